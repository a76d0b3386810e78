#include "larq_engine/model_file/operator_clauses.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "larq_engine/model_file/walk.h"

namespace larq_engine {
namespace {

using Kinds = std::initializer_list<int>;

bool IsOneOf(int kind, const Kinds& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// ---- Numbers of tensors ------------------------------------------------------------------------

constexpr size_t kAny = std::numeric_limits<size_t>::max();

struct Count {
  size_t least;
  size_t most;
};

struct TensorCounts {
  Count inputs;
  Count outputs;
  Kinds kinds;
};

constexpr int kKinds = 162;  // one more than the largest number in the rows

// Returns how many tensors the host's operator of this number in the schema has. Operators without
// a row may have any number.
const TensorCounts* FindTensorCounts(int kind) {
  static const TensorCounts rows[] = {
      // One tensor to one: activations, functions of a number, pools, casts, changes of shape.
      {{1, 1}, {1, 1}, {1,   5,   6,   8,   11,  12,  13,  14,  17,  19,  20,  21,  25,
                        26,  28,  30,  43,  47,  50,  53,  59,  66,  73,  75,  76,  77,
                        80,  87,  92,  93,  98,  101, 104, 108, 109, 110, 111, 113, 114,
                        116, 117, 124, 133, 134, 135, 146, 147, 148, 150, 152, 158, 159}},
      // Two tensors to one: arithmetic, comparisons, reductions, and operators that have their axis
      // or shape in a tensor.
      {{2, 2}, {1, 1}, {0,   7,   18,  34,  36,  39,  40,  41,  42,  54,  55,  56,  57,
                        58,  61,  62,  63,  69,  70,  71,  72,  74,  78,  79,  81,  82,
                        84,  86,  89,  90,  91,  94,  95,  97,  99,  100, 105, 107, 112,
                        115, 125, 126, 128, 130, 131, 140, 145, 149, 156, 160, 161, 23}},
      {{3, 3}, {1, 1}, {37, 38, 60, 64, 65, 96, 122, 123, 151, 153, 154, 155, 157, 137}},
      {{4, 4}, {1, 1}, {45, 68, 85}},     // STRIDED_SLICE, SPARSE_TO_DENSE, ONE_HOT
      {{5, 5}, {1, 1}, {33, 35}},         // EMBEDDING_LOOKUP_SPARSE, RNN of a sequence
      {{1, kAny}, {1, 1}, {2, 83, 106}},  // CONCATENATION, PACK, ADD_N
      {{1, 2}, {1, 1}, {22}},             // RESHAPE
      {{2, 3}, {1, 1}, {3, 4, 15, 132}},  // convolutions, LSH_PROJECTION
      {{3, 4}, {1, 1}, {67, 141}},        // transposed convolutions
      {{2, 4}, {1, 2}, {9}},              // FULLY_CONNECTED
      {{4, 5}, {1, 2}, {27}},             // SVDF
      {{5, 24}, {1, 4}, {16}},            // LSTM
      {{20, 24}, {1, 1}, {44}},           // LSTM of a sequence
      {{12, 12}, {1, 2}, {46}},           // RNN of a sequence in both directions
      {{48, 48}, {1, 2}, {52}},           // LSTM of a sequence in both directions
      {{2, 2}, {2, 2}, {48}},             // TOPK_V2
      {{3, 3}, {2, 2}, {10}},             // HASHTABLE_LOOKUP
      {{1, 1}, {2, 2}, {103}},            // UNIQUE
      {{5, 5}, {2, 2}, {120}},            // NON_MAX_SUPPRESSION_V4
      {{6, 6}, {3, 3}, {121}},            // NON_MAX_SUPPRESSION_V5
      {{2, 2}, {1, kAny}, {builtin::kSplit}},
      {{3, 3}, {1, kAny}, {102}},     // SPLIT_V
      {{1, 1}, {1, kAny}, {88}},      // UNPACK
      {{1, kAny}, {0, kAny}, {118}},  // IF
      {{0, 0}, {0, 0}, {129}},        // CALL_ONCE
      {{0, 0}, {1, 1}, {136, 142}},   // HASHTABLE, VAR_HANDLE
      {{1, 1}, {1, 1}, {139, 143}},   // HASHTABLE_SIZE, READ_VARIABLE
      {{3, 3}, {0, 0}, {138}},        // HASHTABLE_IMPORT
      {{2, 2}, {0, 0}, {144}},        // ASSIGN_VARIABLE
  };
  static const std::vector<const TensorCounts*> by_kind = [] {
    std::vector<const TensorCounts*> result(kKinds);
    for (const TensorCounts& row : rows) {
      for (const int row_kind : row.kinds) result[static_cast<size_t>(row_kind)] = &row;
    }
    return result;
  }();
  return kind < kKinds ? by_kind[static_cast<size_t>(kind)] : nullptr;
}

void CheckCount(const GraphPlace& place, size_t index, const Count& count, size_t got,
                const char* what) {
  if (got >= count.least && got <= count.most) return;
  std::string expected = std::to_string(count.least);
  if (count.most == kAny) {
    expected = "at least " + expected;
  } else if (count.most != count.least) {
    expected += " to " + std::to_string(count.most);
  }
  Refuse(place.OperatorName(index), expected + " " + what, std::to_string(got));
}

}  // namespace

bool IsHostsCustomOperator(std::string_view name) {
  constexpr std::string_view kNames[] = {"AudioSpectrogram", "Mfcc", "NumericVerify",
                                         "TFLite_Detection_PostProcess"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void OperatorsHaveTheirTensors(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const TensorCounts* counts = FindTensorCounts(KindOf(model, op));
    if (counts == nullptr) return;
    CheckCount(place, index, counts->inputs, op.inputs.size(), "inputs");
    CheckCount(place, index, counts->outputs, op.outputs.size(), "outputs");
  });
}

void HostsCustomOperatorsHaveOptions(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (KindOf(model, op) != builtin::kCustom || !op.options.empty()) return;
    const std::string& name = model.operator_codes[op.code].custom_name;
    if (IsHostsCustomOperator(name))
      Refuse(place.OperatorName(index), "options of " + name, "none");
  });
}

// Kernels of all types except int16 read the bias even if there is none.
void DepthwiseConvolutionsHaveABias(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (KindOf(model, op) != builtin::kDepthwiseConv2d || op.inputs.size() > 2) return;
    const ElementType type = place.Graph().tensors[static_cast<size_t>(op.inputs[0])].type;
    if (type != ElementType::kInt16) {
      Refuse(place.OperatorName(index), "a bias, as it is not of int16", "none",
             "hosts would crash: give zeros");
    }
  });
}

// A tensor of strings has a layout of its own, and resources and variants have none. A kernel that
// takes them for numbers writes outside of allocated memory.
void NumericOperatorsHaveNumbers(const ModelFile& model) {
  // Operators that call graphs.
  static constexpr Kinds kOfAnything = {31, 118, 119, 129, 200, 206, 209};
  static constexpr Kinds kOfStrings = {10, 15, 22, 30,  36,  43,  45,  65,  69,  70, 71,
                                       72, 77, 94, 107, 110, 130, 137, 138, 143, 144};
  static constexpr Kinds kOfResources = {136, 137, 138, 139, 142};
  // The first input of these is a resource; the value that they read or write is not.
  static constexpr Kinds kOfAHandle = {builtin::kReadVariable, builtin::kAssignVariable};
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind == builtin::kCustom || IsOneOf(kind, kOfAnything)) return;
    const auto check = [&](int32_t tensor) {
      if (tensor == kAbsentTensor) return;
      const ElementType type = place.Graph().tensors[static_cast<size_t>(tensor)].type;
      const bool is_string = type == ElementType::kString;
      const bool is_resource = type == ElementType::kResource || type == ElementType::kVariant;
      if ((is_string && !IsOneOf(kind, kOfStrings)) ||
          (is_resource && !IsOneOf(kind, kOfResources))) {
        Refuse(place.OperatorName(index), "tensors of numbers",
               place.TensorName(static_cast<size_t>(tensor)) + " of " +
                   (is_string ? "strings" : "resources"),
               "hosts would crash: compute with these outside of the model");
      }
    };
    const auto values = std::span(op.inputs).subspan(IsOneOf(kind, kOfAHandle) ? 1 : 0);
    std::for_each(values.begin(), values.end(), check);
    std::for_each(op.outputs.begin(), op.outputs.end(), check);
  });
}

// Hosts copy as many bytes as the input has.
void CopiesHaveTheTypeOfTheirInput(const ModelFile& model) {
  // The input whose type the output must have: SPLIT has its axis first, SELECT and FILL have the
  // condition or the shape first.
  static constexpr Kinds kFirst = {2,   5,   22,  26,  34,  36,  37,  38,  39,  43,  45,
                                   60,  65,  69,  70,  83,  88,  93,  100, 102, 105, 107,
                                   112, 113, 115, 125, 130, 151, 153, 154, 155, 157};
  static constexpr Kinds kSecond = {builtin::kSplit, 64, 94, 123};
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (!IsOneOf(kind, kFirst) && !IsOneOf(kind, kSecond)) return;
    const auto input = static_cast<size_t>(op.inputs[IsOneOf(kind, kSecond) ? 1 : 0]);
    for (const int32_t output : op.outputs) {
      const auto tensor = static_cast<size_t>(output);
      if (place.Graph().tensors[tensor].type != place.Graph().tensors[input].type) {
        Refuse(place.OperatorName(index), "outputs of the type of " + place.TensorName(input),
               place.TensorName(tensor) + " of another");
      }
    }
  });
}

namespace {

template <typename Number>
std::vector<int64_t> ReadNumbers(std::span<const uint8_t> data) {
  std::vector<int64_t> numbers;
  Number number;
  for (size_t at = 0; at + sizeof(number) <= data.size(); at += sizeof(number)) {
    std::memcpy(&number, data.data() + at, sizeof(number));
    numbers.push_back(number);
  }
  return numbers;
}

// Returns the numbers of a constant; returns none if the tensor is computed or has another type.
std::vector<int64_t> NumbersOf(const ModelFile& model, const FileTensor& tensor) {
  const std::span<const uint8_t> data = DataOf(model, tensor);
  if (tensor.type == ElementType::kInt32) return ReadNumbers<int32_t>(data);
  if (tensor.type == ElementType::kInt64) return ReadNumbers<int64_t>(data);
  return {};
}

// The most bytes of a shape, which is more than any host computes with. Operators may share
// constants, so what is read for each operator must not be long.
constexpr size_t kMaxShapeBytes = 64 * sizeof(int64_t);

void CheckBroadcast(const GraphPlace& place, size_t index) {
  const FileOperator& op = place.Graph().operators[index];
  std::vector<int64_t> shapes[2];
  for (const size_t i : {0, 1}) {
    const FileTensor& tensor = place.Graph().tensors[static_cast<size_t>(op.inputs[i])];
    const size_t size = DataOf(place.model, tensor).size();
    if (size > kMaxShapeBytes) {
      Refuse(place.OperatorName(index),
             "a shape of at most " + std::to_string(kMaxShapeBytes) + " bytes",
             std::to_string(size), "hosts have tensors of 8 dimensions: give fewer");
    }
    shapes[i] = NumbersOf(place.model, tensor);
  }
  for (size_t i = 1; i <= std::min(shapes[0].size(), shapes[1].size()); ++i) {
    const int64_t x = shapes[0][shapes[0].size() - i];
    const int64_t y = shapes[1][shapes[1].size() - i];
    if (x != y && x != 1 && y != 1) {
      Refuse(place.OperatorName(index), "shapes that can be made equal",
             NumbersText(shapes[0]) + " and " + NumbersText(shapes[1]),
             "hosts would crash: give shapes of which one can be repeated to the other");
    }
  }
}

struct Range {
  int64_t least;
  int64_t most;
};

// Ranges by buffer and type. Operators may share a constant, which may be long, so it is read only
// once.
using ConstantRanges = std::map<std::pair<uint32_t, ElementType>, std::optional<Range>>;

// Returns the range of the numbers of a constant, if it has any.
std::optional<Range> RangeOf(const ModelFile& model, const FileTensor& tensor,
                             ConstantRanges& ranges) {
  const auto [entry, is_new] = ranges.try_emplace({tensor.buffer, tensor.type});
  if (is_new) {
    const std::vector<int64_t> numbers = NumbersOf(model, tensor);
    if (!numbers.empty()) {
      const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
      entry->second = {.least = *least, .most = *most};
    }
  }
  return entry->second;
}

bool IsOpen(const FileTensor& tensor) {
  return std::find(tensor.signature.begin(), tensor.signature.end(), -1) != tensor.signature.end();
}

bool IsOpen(const FileTensor& tensor, size_t dimension) {
  return dimension < tensor.signature.size() && tensor.signature[dimension] == -1;
}

// Hosts check only the first length. The length of an open sequence is not known before the model
// runs.
void CheckLengths(const GraphPlace& place, size_t index, ConstantRanges& ranges) {
  constexpr char kRemedy[] = "hosts would crash: give how many to reverse";
  const FileOperator& op = place.Graph().operators[index];
  const std::vector<FileTensor>& tensors = place.Graph().tensors;
  const std::optional<Range> lengths =
      RangeOf(place.model, tensors[static_cast<size_t>(op.inputs[1])], ranges);
  if (!lengths.has_value()) return;
  if (lengths->least < 0) {
    Refuse(place.OperatorName(index), "lengths of at least 0", std::to_string(lengths->least),
           kRemedy);
  }
  const FileTensor& input = tensors[static_cast<size_t>(op.inputs[0])];
  const auto dimension = static_cast<size_t>(OptionsOf(op).sequence_dimension);
  if (dimension >= input.shape.size() || IsOpen(input, dimension)) return;
  if (lengths->most > input.shape[dimension]) {
    Refuse(
        place.OperatorName(index),
        "lengths of at most " + std::to_string(input.shape[dimension]) + ", as its sequences are",
        std::to_string(lengths->most), kRemedy);
  }
}

// A kernel reads as many values of the matrices' type as their diagonals have.
void CheckDiagonal(const GraphPlace& place, size_t index) {
  const FileOperator& op = place.Graph().operators[index];
  const auto first = static_cast<size_t>(op.inputs[0]), second = static_cast<size_t>(op.inputs[1]);
  const FileTensor& matrices = place.Graph().tensors[first];
  const FileTensor& diagonal = place.Graph().tensors[second];
  if (diagonal.type != matrices.type) {
    Refuse(place.OperatorName(index), "a diagonal of the type of " + place.TensorName(first),
           place.TensorName(second) + " of another");
  }
  const auto is_fixed = [&](const FileTensor& tensor) {
    return IsConstant(place.model, tensor) || !(tensor.shape.empty() || IsOpen(tensor));
  };
  const std::span<const int32_t> shape(matrices.shape);
  if (shape.size() < 2 || !is_fixed(matrices) || !is_fixed(diagonal)) return;
  const std::span<const int32_t> sides = shape.last(2);
  const uint64_t expected =
      ValuesOf(shape.first(shape.size() - 2)) * static_cast<uint64_t>(std::min(sides[0], sides[1]));
  const uint64_t got = ValuesOf(diagonal.shape);
  if (got < expected) {
    Refuse(place.OperatorName(index),
           std::to_string(expected) + " values for the diagonals of " + NumbersText(matrices.shape),
           std::to_string(got), "hosts would crash: give one for each row or column");
  }
}

}  // namespace

// Kernels treat all types except these integers as float32; for a smaller type they write past the
// tensor's end.
void DiagonalsFitTheirMatrices(const ModelFile& model) {
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind != builtin::kMatrixDiag && kind != builtin::kMatrixSetDiag) return;
    const auto input = static_cast<size_t>(op.inputs[0]);
    const ElementType type = place.Graph().tensors[input].type;
    if (BitsOf(type) < BitsOf(ElementType::kFloat32) && type != ElementType::kInt8 &&
        type != ElementType::kUint8 && type != ElementType::kInt16) {
      Refuse(place.OperatorName(index), "values of int8, uint8, int16 or at least 32 bits",
             place.TensorName(input) + " of another type", "hosts would crash: cast them before");
    }
    if (kind == builtin::kMatrixSetDiag) CheckDiagonal(place, index);
  });
}

// Hosts allow tensors of any rank, but broadcast only up to 8 dimensions. Sizes that the file
// leaves open are not known before the model runs.
void BroadcastRanksAreSmall(const ModelFile& model) {
  constexpr size_t kMaxRank = 8;
  // Arithmetic except ADD and MUL, comparisons, logic.
  static constexpr Kinds kBroadcasting = {41, 42, 55, 57, 58, 61, 62, 63,  71,
                                          72, 78, 84, 86, 90, 95, 99, 160, 161};
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (!IsOneOf(KindOf(model, op), kBroadcasting)) return;
    const FileTensor& a = place.Graph().tensors[static_cast<size_t>(op.inputs[0])];
    const FileTensor& b = place.Graph().tensors[static_cast<size_t>(op.inputs[1])];
    const size_t rank = std::max(a.shape.size(), b.shape.size());
    if (rank <= kMaxRank || a.shape == b.shape) return;
    if (a.shape.size() == b.shape.size() && (IsOpen(a) || IsOpen(b))) return;
    Refuse(place.OperatorName(index), "equal shapes, or at most 8 dimensions",
           std::to_string(rank) + " dimensions of " + NumbersText(a.shape) + " and " +
               NumbersText(b.shape),
           "hosts would crash: leave out dimensions of 1");
  });
}

// XNNPACK takes tensors of up to 6 dimensions, but checks only the output's rank.
void HighRanksAreKept(const ModelFile& model) {
  constexpr size_t kMaxRank = 6;
  // Operators that make one number of each number: arithmetic of one or two operands, activations,
  // casts, quantization.
  static constexpr Kinds kKeeping = {0,  6,  8,   14,  18,  19,  20,  21,  25,  28,  41,  42,
                                     47, 50, 53,  54,  55,  57,  59,  66,  73,  75,  76,  92,
                                     98, 99, 101, 104, 108, 111, 114, 116, 117, 150, 152, 158};
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (!IsOneOf(KindOf(model, op), kKeeping)) return;
    const auto output = static_cast<size_t>(op.outputs[0]);
    const size_t rank = place.Graph().tensors[output].shape.size();
    for (const int32_t input : op.inputs) {
      const size_t own = place.Graph().tensors[static_cast<size_t>(input)].shape.size();
      if (own <= kMaxRank || own <= rank) continue;
      Refuse(place.OperatorName(index),
             std::to_string(own) + " dimensions of " + place.TensorName(output) + ", as of " +
                 place.TensorName(static_cast<size_t>(input)),
             std::to_string(rank), "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1");
    }
  });
}

// Kernels of floats store floats in a layer's state, whatever its type is.
void StatesAreOfTheirLayersType(const ModelFile& model) {
  static constexpr Kinds kRecurrent = {16, 24, 27, 35, 44, 46, 52};
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    if (!IsOneOf(KindOf(model, op), kRecurrent) || op.inputs.empty()) return;
    const std::vector<FileTensor>& tensors = place.Graph().tensors;
    if (tensors[static_cast<size_t>(op.inputs[0])].type != ElementType::kFloat32) return;
    for (const int32_t input : op.inputs) {
      if (input == kAbsentTensor) continue;
      const FileTensor& state = tensors[static_cast<size_t>(input)];
      if (state.is_variable && state.type != ElementType::kFloat32) {
        Refuse(place.OperatorName(index), "a state of float32, as its input is",
               place.TensorName(static_cast<size_t>(input)) + " of another type");
      }
    }
  });
}

namespace {

// Calls check(place, operator, state, tensor) for each operator of the kind, with the tensor that
// takes or gives the state's value. Operators are left out if the state, or the shape of the
// tensor, is not known.
template <typename Check>
void ForEachUseOfAState(const ModelFile& model, int kind, Check check) {
  std::vector<std::map<int32_t, const std::string*>> handles(model.graphs.size());
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int own = KindOf(model, op);
    if (own == builtin::kVarHandle) handles[place.graph][op.outputs[0]] = &OptionsOf(op).state;
    if (own != kind) return;
    const auto state = handles[place.graph].find(op.inputs[0]);
    const int32_t value = kind == builtin::kReadVariable ? op.outputs[0] : op.inputs[1];
    const FileTensor& tensor = place.Graph().tensors[static_cast<size_t>(value)];
    if (state == handles[place.graph].end() || tensor.shape.empty() || IsOpen(tensor)) return;
    check(place, index, *state->second, static_cast<size_t>(value));
  });
}

}  // namespace

// A host reads as many bytes as it will write, and XNNPACK writes as many as the state had before.
void StatesKeepTheirShape(const ModelFile& model) {
  // The shape in which each state is read.
  std::map<std::string_view, std::span<const int32_t>> shapes;
  ForEachUseOfAState(model, builtin::kReadVariable,
                     [&](const GraphPlace& place, size_t, const std::string& state, size_t value) {
                       shapes.try_emplace(state, place.Graph().tensors[value].shape);
                     });
  ForEachUseOfAState(
      model, builtin::kAssignVariable,
      [&](const GraphPlace& place, size_t index, const std::string& state, size_t value) {
        const auto read = shapes.find(state);
        const std::vector<int32_t>& shape = place.Graph().tensors[value].shape;
        if (read == shapes.end() ||
            std::equal(read->second.begin(), read->second.end(), shape.begin(), shape.end())) {
          return;
        }
        Refuse(place.OperatorName(index),
               "the shape in which the state is read, " + NumbersText(read->second),
               place.TensorName(value) + " of " + NumbersText(shape));
      });
}

// Kernels use these numbers without checking where they lead.
void ArgumentsAreInRange(const ModelFile& model) {
  constexpr int kBroadcastArgs = 145;
  constexpr int32_t kMaxRadius = 1 << 30;
  ConstantRanges ranges;
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind == kBroadcastArgs) CheckBroadcast(place, index);
    if (kind == builtin::kReverseSequence) CheckLengths(place, index, ranges);
    const FileOptions& options = OptionsOf(op);
    if (kind == builtin::kLocalResponseNormalization &&
        (options.radius < 0 || options.radius > kMaxRadius)) {
      Refuse(place.OperatorName(index), "a radius of 0 to 2^30", std::to_string(options.radius),
             "hosts would crash: give one of channels");
    }
    if (IsPool(kind) && std::min(options.filter_width, options.filter_height) < 0) {
      Refuse(place.OperatorName(index), "a filter of at least 0 pixels a side",
             std::to_string(options.filter_width) + " x " + std::to_string(options.filter_height),
             "hosts would crash: give its width and height");
    }
  });
}

namespace {

using Tensors = std::vector<int32_t>;

// Checks that there are as many tensors, and that they have the same types.
void CheckFit(const GraphPlace& place, size_t index, std::span<const int32_t> own,
              const GraphPlace& called, const Tensors& others, const std::string& what) {
  const std::string name = what + " of graph #" + std::to_string(called.graph);
  if (own.size() != others.size()) {
    Refuse(place.OperatorName(index), std::to_string(own.size()) + " " + name,
           std::to_string(others.size()));
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == kAbsentTensor) continue;
    const FileTensor& a = place.Graph().tensors[static_cast<size_t>(own[i])];
    const auto other = static_cast<size_t>(others[i]);
    if (a.type != called.Graph().tensors[other].type) {
      Refuse(place.OperatorName(index),
             name + " of the same types as its own, such as " +
                 place.TensorName(static_cast<size_t>(own[i])),
             called.TensorName(other));
    }
  }
}

// Hosts give the called graph's inputs the shapes of the caller's. By then XNNPACK has claimed the
// graph's operators, and it crashes if there are more dimensions than it supports.
void CheckRanks(const GraphPlace& place, size_t index, std::span<const int32_t> own,
                const GraphPlace& called) {
  constexpr size_t kMaxRank = 6;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == kAbsentTensor) continue;
    const size_t rank = place.Graph().tensors[static_cast<size_t>(own[i])].shape.size();
    const auto other = static_cast<size_t>(called.Graph().inputs[i]);
    if (rank > kMaxRank && rank != called.Graph().tensors[other].shape.size()) {
      Refuse(place.OperatorName(index),
             "at most " + std::to_string(kMaxRank) + " dimensions, or as many as " +
                 called.TensorName(other),
             std::to_string(rank), "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1");
    }
  }
}

}  // namespace

// Hosts copy between the tensors of an operator and those of the graph that it calls.
void CalledGraphsFit(const ModelFile& model) {
  constexpr int kIf = 118, kWhile = 119, kCallOnce = 129;
  ForEachOperator(model, [&](const GraphPlace& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind != kIf && kind != kWhile && kind != kCallOnce) return;
    for (size_t i = 0; i < op.graphs.size(); ++i) {
      const GraphPlace called{.model = model, .graph = static_cast<size_t>(op.graphs[i])};
      const FileGraph& graph = called.Graph();
      // The first input of IF chooses the graph; the first graph of WHILE tells whether to go on.
      const std::span<const int32_t> inputs(op.inputs);
      const std::span<const int32_t> given = kind == kIf ? inputs.subspan(1) : inputs;
      CheckFit(place, index, given, called, graph.inputs, "inputs");
      CheckRanks(place, index, given, called);
      if (kind == kWhile && i == 0) {
        if (graph.outputs.size() != 1 ||
            graph.tensors[static_cast<size_t>(graph.outputs[0])].type != ElementType::kBool) {
          Refuse(place.OperatorName(index),
                 "a graph #" + std::to_string(called.graph) + " with one output of a bool",
                 "another");
        }
      } else {
        CheckFit(place, index, op.outputs, called, graph.outputs, "outputs");
      }
    }
  });
}

}  // namespace larq_engine
