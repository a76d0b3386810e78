#include "larq_engine/model_file/clauses.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "larq_engine/model_file/operator_clauses.h"
#include "larq_engine/model_file/scale_clauses.h"
#include "larq_engine/model_file/sparsity.h"
#include "larq_engine/model_file/walk.h"

namespace larq_engine {
namespace {

bool IsIndex(int64_t index, size_t count) {
  return index >= 0 && static_cast<uint64_t>(index) < count;
}

// Refuses an index that is out of range. `place` is a PartName or a text.
template <typename Named>
void CheckIndex(const Named& place, const char* what, int64_t index, size_t count) {
  if (!IsIndex(index, count)) {
    Refuse(place, what + (" of " + std::to_string(count)), "#" + std::to_string(index));
  }
}

template <typename Named>
void CheckIndices(const Named& place, const char* what, const std::vector<int32_t>& indices,
                  size_t count) {
  for (const int32_t index : indices) CheckIndex(place, what, index, count);
}

// ---- Tensors -----------------------------------------------------------------------------------

void ThereIsAGraph(const ModelFile& model) {
  if (model.graphs.empty()) Refuse("", "a graph", "none");
}

// The most bytes of a tensor of fixed size.
constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 60;

uint64_t BytesOf(const FileTensor& tensor) {
  return (ValuesOf(tensor.shape) * static_cast<uint64_t>(BitsOf(tensor.type)) + 7) / 8;
}

void ShapesHaveLegalSizes(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    uint64_t bytes = std::max<uint64_t>(static_cast<uint64_t>(BitsOf(tensor.type)) / 8, 1);
    for (const int32_t size : tensor.shape) {
      if (size < 0)
        Refuse(place.TensorName(index), "sizes of at least 0", NumbersText(tensor.shape));
      if (size > 0 && bytes > kMaxTensorBytes / static_cast<uint64_t>(size)) {
        Refuse(place.TensorName(index), "a shape of at most 2^60 bytes", NumbersText(tensor.shape));
      }
      bytes *= static_cast<uint64_t>(size);
    }
  });
}

// A signature may have another rank than the shape: hosts then ignore it.
void SignaturesOfShapesFit(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    const std::vector<int32_t>& signature = tensor.signature;
    if (std::any_of(signature.begin(), signature.end(), [](int32_t size) { return size < -1; })) {
      Refuse(place.TensorName(index), "a shape signature of sizes, or -1 for open ones",
             NumbersText(signature));
    }
  });
}

void BuffersExist(const ModelFile& model) {
  ForEachTensor(model, [&](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (tensor.buffer == 0) return;  // no data, even in a file without buffers
    CheckIndex(place.TensorName(index), "a buffer", tensor.buffer, model.buffers.size());
  });
}

void ConstantsFillTheirShapes(const ModelFile& model) {
  ForEachTensor(model, [&](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    const size_t size = DataOf(model, tensor).size();
    if (size == 0 || BitsOf(tensor.type) == 0 || tensor.sparsity.has_value()) return;
    if (size != BytesOf(tensor)) {
      Refuse(place.TensorName(index),
             std::to_string(BytesOf(tensor)) + " bytes for the shape " + NumbersText(tensor.shape),
             std::to_string(size));
    }
  });
}

// The buffer of a constant of strings holds their number, the offset of each and of the end of the
// last, and then the text.
void StringsLieInTheirBuffers(const ModelFile& model) {
  std::vector<bool> is_known(model.buffers.size());  // tensors may share a buffer
  ForEachTensor(model, [&](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    const std::span<const uint8_t> data = DataOf(model, tensor);
    if (tensor.type != ElementType::kString || data.empty() || is_known[tensor.buffer]) return;
    is_known[tensor.buffer] = true;
    const Flatbuffer words(data);
    const auto word = [&](uint64_t i) { return uint64_t{words.Read<uint32_t>(4 * i, "strings")}; };
    if (data.size() < 8 || word(0) > data.size() / 4 - 2) {
      Refuse(place.TensorName(index), "the places of its strings", "the end of its buffer");
    }
    uint64_t last = 4 * (word(0) + 2);
    for (uint64_t i = 1; i <= word(0) + 1; ++i) {
      if (word(i) < last || word(i) > data.size()) {
        Refuse(place.TensorName(index),
               "strings one after the other in " + std::to_string(data.size()) + " bytes",
               "one at byte " + std::to_string(word(i)));
      }
      last = word(i);
    }
  });
}

// ---- Quantization ------------------------------------------------------------------------------

struct QuantizedType {
  ElementType type;
  int64_t lowest;
  int64_t highest;
};

constexpr QuantizedType kQuantizedTypes[] = {
    {ElementType::kInt2, -2, 1},      {ElementType::kInt4, -8, 7},
    {ElementType::kUint4, 0, 15},     {ElementType::kInt8, -128, 127},
    {ElementType::kUint8, 0, 255},    {ElementType::kInt16, -32768, 32767},
    {ElementType::kUint16, 0, 65535},
};

void ZeroPointsAreOfTheirType(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (!tensor.quantization.has_value()) return;
    QuantizedType range = {.type = tensor.type,  // hosts store zero points of other types as int32
                           .lowest = std::numeric_limits<int32_t>::min(),
                           .highest = std::numeric_limits<int32_t>::max()};
    for (const QuantizedType& row : kQuantizedTypes) {
      if (row.type == tensor.type) range = row;
    }
    for (const int64_t zero_point : tensor.quantization->zero_points) {
      if (zero_point < range.lowest || zero_point > range.highest) {
        Refuse(place.TensorName(index),
               "zero points of " + std::to_string(range.lowest) + " to " +
                   std::to_string(range.highest),
               std::to_string(zero_point));
      }
    }
  });
}

void EachScaleHasAZeroPoint(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (!tensor.quantization.has_value() || tensor.quantization->scales.empty()) return;
    const size_t scales = tensor.quantization->scales.size();
    const size_t zero_points = tensor.quantization->zero_points.size();
    if (zero_points != scales) {
      Refuse(place.TensorName(index), std::to_string(scales) + " zero points, one for each scale",
             std::to_string(zero_points));
    }
  });
}

void ScalesAreOneOrOneForEachSlice(const ModelFile& model) {
  ForEachTensor(model, [](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (!tensor.quantization.has_value() || tensor.quantization->scales.empty()) return;
    const int32_t dimension = tensor.quantization->dimension;
    const size_t scales = tensor.quantization->scales.size();
    if (dimension < 0 || !(tensor.shape.empty() || IsIndex(dimension, tensor.shape.size()))) {
      Refuse(place.TensorName(index), "scales along a dimension of " + NumbersText(tensor.shape),
             "#" + std::to_string(dimension));
    }
    const size_t slices = tensor.shape.empty()
                              ? 1
                              : static_cast<size_t>(tensor.shape[static_cast<size_t>(dimension)]);
    if (scales != 1 && scales != slices) {
      Refuse(place.TensorName(index), "one scale or " + std::to_string(slices),
             std::to_string(scales));
    }
  });
}

void BlocksHaveScales(const ModelFile& model) {
  ForEachTensor(model, [&](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (!tensor.quantization.has_value() || !tensor.quantization->blockwise.has_value()) return;
    const BlockwiseQuantization& blocks = *tensor.quantization->blockwise;
    const std::vector<FileTensor>& tensors = place.Graph().tensors;
    CheckIndex(place.TensorName(index), "scales in a tensor", blocks.scales, tensors.size());
    if (!IsConstant(model, tensors[static_cast<size_t>(blocks.scales)])) {
      Refuse(place.TensorName(index), "scales in a constant", "#" + std::to_string(blocks.scales));
    }
    if (blocks.zero_points != kAbsentTensor) {
      CheckIndex(place.TensorName(index), "zero points in a tensor", blocks.zero_points,
                 tensors.size());
    }
    if (blocks.block_size < 1 && !blocks.has_block_shape) {
      Refuse(place.TensorName(index), "blocks of at least 1", std::to_string(blocks.block_size));
    }
  });
}

void SparseIndicesLeadIntoTheTensor(const ModelFile& model) {
  ForEachTensor(model, [&](const GraphPlace& place, size_t index, const FileTensor& tensor) {
    if (!tensor.sparsity.has_value()) return;
    const std::span<const uint8_t> data = DataOf(model, tensor);
    if (data.empty() || BitsOf(tensor.type) == 0) {
      Refuse(place.TensorName(index), "a sparse constant of numbers", "none");
    }
    CheckSparsity(tensor, data.size(), place.TensorName(index));
  });
}

// ---- Operators ---------------------------------------------------------------------------------

void KindsExist(const ModelFile& model) {
  for (size_t i = 0; i < model.operator_codes.size(); ++i) {
    const FileOperatorCode& code = model.operator_codes[i];
    const std::string place = "operator code #" + std::to_string(i);
    if (code.kind < 0) Refuse(place, "a kind of at least 0", std::to_string(code.kind));
    if (code.kind == builtin::kCustom && code.custom_name.empty()) {
      Refuse(place, "the name of a custom operator", "none");
    }
  }
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    CheckIndex(place.OperatorName(index), "a kind", op.code, model.operator_codes.size());
  });
}

void OutputsArePresent(const ModelFile& model) {
  ForEachOperator(model, [](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (std::find(op.outputs.begin(), op.outputs.end(), kAbsentTensor) != op.outputs.end()) {
      Refuse(place.OperatorName(index), "a tensor for each output", "one that is absent");
    }
  });
}

void TensorsExist(const ModelFile& model) {
  for (size_t i = 0; i < model.graphs.size(); ++i) {
    const std::string name = "graph #" + std::to_string(i);
    const size_t tensors = model.graphs[i].tensors.size();
    CheckIndices(name, "an input out of tensors", model.graphs[i].inputs, tensors);
    CheckIndices(name, "an output out of tensors", model.graphs[i].outputs, tensors);
  }
  ForEachOperator(model, [](const GraphPlace& place, size_t index, const FileOperator& op) {
    const PartName name = place.OperatorName(index);
    const size_t tensors = place.Graph().tensors.size();
    for (const int32_t input : op.inputs) {
      if (input != kAbsentTensor) CheckIndex(name, "an input out of tensors", input, tensors);
    }
    CheckIndices(name, "an output out of tensors", op.outputs, tensors);
    CheckIndices(name, "an intermediate out of tensors", op.intermediates, tensors);
  });
}

struct OptionalInputs {
  int kind;
  std::vector<size_t> positions;
  size_t inputs = 0;  // the least inputs for which the row applies
};

// Rows of the operators that have optional inputs. All other operators of the host need every
// input.
const std::vector<OptionalInputs>& OptionalInputRows() {
  static const std::vector<OptionalInputs> rows = {
      {builtin::kConv2d, {2}},
      {builtin::kDepthwiseConv2d, {2}},
      {builtin::kFullyConnected, {2}},
      {builtin::kTransposeConv, {3}},
      {builtin::kConv3d, {2}},
      {builtin::kConv3dTranspose, {3}},
      {builtin::kSvdf, {3}},
      // With fewer inputs it is the basic kind, which needs all five of them.
      {builtin::kLstm, {1, 5, 9, 10, 11, 12, 16, 17, 20, 21, 22, 23}, 20},
      {builtin::kUnidirectionalSequenceLstm, {1, 5, 9, 10, 11, 12, 16, 17, 20, 21, 22, 23}},
      {builtin::kBidirectionalSequenceLstm, {1,  5,  9,  10, 11, 12, 16, 17, 18, 22, 26, 27, 28,
                                             29, 33, 34, 39, 40, 41, 42, 43, 44, 45, 46, 47}},
      {builtin::kBidirectionalSequenceRnn, {9, 10, 11}},
  };
  return rows;
}

bool MayBeAbsent(const ModelFile& model, const FileOperator& op, size_t position) {
  const FileOperatorCode& code = model.operator_codes[op.code];
  if (code.kind == builtin::kDelegate) return true;  // the operator of another delegate
  if (code.kind == builtin::kCustom) {
    return !IsHostsCustomOperator(code.custom_name);
  }
  for (const OptionalInputs& row : OptionalInputRows()) {
    if (row.kind == code.kind && op.inputs.size() >= row.inputs) {
      return std::find(row.positions.begin(), row.positions.end(), position) != row.positions.end();
    }
  }
  return false;
}

void AbsentInputsAreOptional(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == kAbsentTensor && !MayBeAbsent(model, op, i)) {
        Refuse(place.OperatorName(index), "a tensor for input #" + std::to_string(i), "none");
      }
    }
  });
}

// XNNPACK crashes if the number of parts differs.
void SplitsHaveAnOutputForEachPart(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (KindOf(model, op) != builtin::kSplit) return;
    const int32_t parts = OptionsOf(op).parts;
    if (parts < 0 || static_cast<size_t>(parts) != op.outputs.size()) {
      Refuse(place.OperatorName(index),
             "a SPLIT into its " + std::to_string(op.outputs.size()) + " outputs",
             std::to_string(parts) + " parts");
    }
  });
}

// ---- Graphs ------------------------------------------------------------------------------------

// Hosts would overwrite the bytes of the file.
void NoConstantIsComputed(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    for (const int32_t output : op.outputs) {
      const auto tensor = static_cast<size_t>(output);
      if (IsConstant(model, place.Graph().tensors[tensor])) {
        Refuse(place.OperatorName(index), "outputs without data of their own",
               "the constant " + place.TensorName(tensor));
      }
    }
  });
}

void NoConstantIsAGraphInput(const ModelFile& model) {
  for (size_t graph = 0; graph < model.graphs.size(); ++graph) {
    const GraphPlace place{.model = model, .graph = graph};
    for (const int32_t input : place.Graph().inputs) {
      const auto tensor = static_cast<size_t>(input);
      if (IsConstant(model, place.Graph().tensors[tensor])) {
        Refuse("graph #" + std::to_string(graph), "inputs without data of their own",
               "the constant " + place.TensorName(tensor),
               "what is set would be written over the file's bytes: take it out of the inputs");
      }
    }
  }
}

enum Writer : int64_t { kNobody = -1, kCaller = -2, kFile = -3, kHost = -4 };

// Returns for each tensor of a graph what writes it: a Writer, or the number of an operator.
std::vector<int64_t> FindWriters(const ModelFile& model, const FileGraph& graph) {
  std::vector<int64_t> writers(graph.tensors.size(), kNobody);
  for (size_t i = 0; i < writers.size(); ++i) {
    const FileTensor& tensor = graph.tensors[i];
    const bool is_empty =
        std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
    // Hosts do not load texts from outside the file, and crash when an operator reads them.
    const bool is_text_elsewhere = tensor.is_external && tensor.type == ElementType::kString;
    if ((IsConstant(model, tensor) && !is_text_elsewhere) || is_empty) writers[i] = kFile;
    if (tensor.is_variable) writers[i] = kHost;
  }
  for (const int32_t input : graph.inputs) writers[static_cast<size_t>(input)] = kCaller;
  return writers;
}

void TensorsAreWrittenOnce(const ModelFile& model) {
  for (size_t graph = 0; graph < model.graphs.size(); ++graph) {
    const GraphPlace place{.model = model, .graph = graph};
    std::vector<int64_t> writers = FindWriters(model, place.Graph());
    for (size_t i = 0; i < place.Graph().operators.size(); ++i) {
      for (const int32_t output : place.Graph().operators[i].outputs) {
        int64_t& writer = writers[static_cast<size_t>(output)];
        if (writer == kCaller || writer >= 0) {
          Refuse(place.OperatorName(i), "outputs that nobody else writes",
                 place.TensorName(static_cast<size_t>(output)) +
                     (writer == kCaller ? ", an input of the graph"
                                        : ", an output of operator #" + std::to_string(writer)));
        }
        writer = static_cast<int64_t>(i);
      }
    }
  }
}

// Tells whether the operator reads this input's values. If the second input of RESHAPE is no
// vector, only its shape is used.
bool IsRead(const ModelFile& model, const FileOperator& op, size_t position,
            const FileTensor& tensor) {
  return KindOf(model, op) != builtin::kReshape || position != 1 || tensor.shape.size() == 1;
}

// Some hosts crash when they partition a graph for delegates whose operators are out of order, and
// others crash on a tensor that nothing writes.
void InputsAreKnownBefore(const ModelFile& model) {
  for (size_t graph = 0; graph < model.graphs.size(); ++graph) {
    const GraphPlace place{.model = model, .graph = graph};
    const FileGraph& file_graph = place.Graph();
    std::vector<int64_t> writers = FindWriters(model, file_graph);
    for (size_t i = 0; i < file_graph.operators.size(); ++i) {
      for (const int32_t output : file_graph.operators[i].outputs) {
        writers[static_cast<size_t>(output)] = static_cast<int64_t>(i);
      }
    }
    for (size_t i = 0; i < file_graph.operators.size(); ++i) {
      const FileOperator& op = file_graph.operators[i];
      for (size_t position = 0; position < op.inputs.size(); ++position) {
        if (op.inputs[position] == kAbsentTensor) continue;
        const auto tensor = static_cast<size_t>(op.inputs[position]);
        const int64_t writer = writers[tensor];
        if (writer >= static_cast<int64_t>(i)) {
          Refuse(place.OperatorName(i), "inputs that are known before it runs",
                 place.TensorName(tensor) + ", an output of operator #" + std::to_string(writer));
        }
        if (writer == kNobody && IsRead(model, op, position, file_graph.tensors[tensor])) {
          Refuse(place.OperatorName(i), "inputs that are known before it runs",
                 place.TensorName(tensor) + ", which nobody writes");
        }
      }
    }
    for (const int32_t output : file_graph.outputs) {
      if (writers[static_cast<size_t>(output)] == kNobody) {
        Refuse("graph #" + std::to_string(graph), "outputs that are computed",
               place.TensorName(static_cast<size_t>(output)) + ", which nobody writes");
      }
    }
  }
}

// Limits of nested calls: hosts prepare a graph again for each operator that calls it, recursively.
constexpr int kMaxDepth = 64;
constexpr uint64_t kMaxCalls = 1 << 16;

void GraphsDoNotCallThemselves(const ModelFile& model) {
  const size_t count = model.graphs.size();
  std::vector<size_t> callers(count);  // callers of each graph that are not visited yet
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    for (const int64_t called : op.graphs) {
      CheckIndex(place.OperatorName(index), "a graph to call out", called, count);
      ++callers[static_cast<size_t>(called)];
    }
  });
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    if (callers[i] == 0) order.push_back(i);
  }
  std::vector<int> depth(count, 1);
  std::vector<uint64_t> calls(count, 1);
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t graph = order[i];
    if (depth[graph] > kMaxDepth || calls[graph] > kMaxCalls) {
      Refuse("graph #" + std::to_string(graph),
             "at most " + std::to_string(kMaxDepth) + " graphs within each other and " +
                 std::to_string(kMaxCalls) + " ways to a graph",
             "more", "hosts would run out of stack or time: nest fewer calls");
    }
    for (const FileOperator& op : model.graphs[graph].operators) {
      for (const int64_t called : op.graphs) {
        const auto target = static_cast<size_t>(called);
        depth[target] = std::max(depth[target], depth[graph] + 1);
        calls[target] = std::min(calls[target] + calls[graph], kMaxCalls + 1);
        if (--callers[target] == 0) order.push_back(target);
      }
    }
  }
  if (order.size() == count) return;
  const auto in_cycle =
      std::find_if(callers.begin(), callers.end(), [](size_t n) { return n > 0; });
  Refuse("graph #" + std::to_string(in_cycle - callers.begin()),
         "graphs that do not call themselves", "a cycle of calls");
}

// ---- Names of parts of the model ---------------------------------------------------------------

void MetadataExist(const ModelFile& model) {
  for (const FileName& entry : model.metadata) {
    if (!entry.text.has_value()) Refuse("metadata", "a name", "none");
    CheckIndex("metadata", "a buffer", entry.index, model.buffers.size());
  }
}

void SignaturesNameTensors(const ModelFile& model) {
  for (size_t i = 0; i < model.signatures.size(); ++i) {
    const FileSignature& signature = model.signatures[i];
    const std::string place = "signature #" + std::to_string(i);
    if (!signature.key.has_value()) Refuse(place, "a key", "none");
    CheckIndex(place, "a graph out", signature.graph, model.graphs.size());
    const size_t tensors = model.graphs[signature.graph].tensors.size();
    for (const std::vector<FileName>* names : {&signature.inputs, &signature.outputs}) {
      for (const FileName& name : *names) {
        if (!name.text.has_value()) Refuse(place, "a name for each tensor", "none");
        CheckIndex(place, "a name of one out of tensors", name.index, tensors);
      }
    }
  }
}

#define CLAUSE(check, scope) \
  { #check, check, ClauseScope::scope }
constexpr Clause kClauses[] = {
    CLAUSE(ThereIsAGraph, kFile),
    CLAUSE(ShapesHaveLegalSizes, kFile),
    CLAUSE(SignaturesOfShapesFit, kFile),
    CLAUSE(BuffersExist, kFile),
    CLAUSE(ConstantsFillTheirShapes, kFile),
    CLAUSE(StringsLieInTheirBuffers, kFile),
    CLAUSE(ScalesAreNumbers, kOneGraph),
    CLAUSE(ZeroPointsAreOfTheirType, kOneGraph),
    CLAUSE(EachScaleHasAZeroPoint, kOneGraph),
    CLAUSE(ScalesAreOneOrOneForEachSlice, kOneGraph),
    CLAUSE(BlocksHaveScales, kFile),
    CLAUSE(SparseIndicesLeadIntoTheTensor, kFile),
    CLAUSE(KindsExist, kFile),
    CLAUSE(OutputsArePresent, kOneGraph),
    CLAUSE(TensorsExist, kOneGraph),
    CLAUSE(OperatorsHaveTheirTensors, kFile),
    CLAUSE(HostsCustomOperatorsHaveOptions, kFile),
    CLAUSE(AbsentInputsAreOptional, kOneGraph),
    CLAUSE(DepthwiseConvolutionsHaveABias, kFile),
    CLAUSE(NumericOperatorsHaveNumbers, kFile),
    CLAUSE(CopiesHaveTheTypeOfTheirInput, kFile),
    CLAUSE(DiagonalsFitTheirMatrices, kFile),
    CLAUSE(ScalesFitTheirOperators, kFile),
    CLAUSE(SplitsHaveAnOutputForEachPart, kFile),
    CLAUSE(BroadcastRanksAreSmall, kFile),
    CLAUSE(HighRanksAreKept, kFile),
    CLAUSE(StatesAreOfTheirLayersType, kFile),
    CLAUSE(StatesKeepTheirShape, kFile),
    CLAUSE(ArgumentsAreInRange, kFile),
    CLAUSE(NoConstantIsComputed, kOneGraph),
    CLAUSE(NoConstantIsAGraphInput, kFile),
    CLAUSE(TensorsAreWrittenOnce, kOneGraph),
    CLAUSE(InputsAreKnownBefore, kOneGraph),
    CLAUSE(GraphsDoNotCallThemselves, kFile),
    CLAUSE(CalledGraphsFit, kFile),
    CLAUSE(MetadataExist, kFile),
    CLAUSE(SignaturesNameTensors, kFile),
};
#undef CLAUSE

}  // namespace

std::span<const Clause> Clauses() { return kClauses; }

}  // namespace larq_engine
