#include "larq_engine/model_file/operator_clauses.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "larq_engine/model_file/walk.h"

namespace larq_engine {
namespace {

using Kinds = std::initializer_list<int>;

bool IsOneOf(int kind, const Kinds& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// ---- How many tensors --------------------------------------------------------------------------

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

constexpr int kKinds = 162;  // up to the last of the rows

// The host's operators by their numbers in the schema. Those that are not here may have any.
const TensorCounts* FindTensorCounts(int kind) {
  static const TensorCounts rows[] = {
      // Of one tensor another: activations, functions of a number, pools, casts, changes of shape.
      {{1, 1}, {1, 1}, {1,   5,   6,   8,   11,  12,  13,  14,  17,  19,  20,  21,  25,
                        26,  28,  30,  43,  47,  50,  53,  59,  66,  73,  75,  76,  77,
                        80,  87,  92,  93,  98,  101, 104, 108, 109, 110, 111, 113, 114,
                        116, 117, 124, 133, 134, 135, 146, 147, 148, 150, 152, 158, 159}},
      // Of two: arithmetic, comparisons, reductions, what has its axis or shape in a tensor.
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
      {{48, 48}, {1, 2}, {52}},           // likewise LSTM
      {{2, 2}, {2, 2}, {48}},             // TOPK_V2
      {{3, 3}, {2, 2}, {10}},             // HASHTABLE_LOOKUP
      {{1, 1}, {2, 2}, {103}},            // UNIQUE
      {{5, 5}, {2, 2}, {120}},            // NON_MAX_SUPPRESSION_V4
      {{6, 6}, {3, 3}, {121}},            // and V5
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

void CheckCount(const Place& place, size_t index, const Count& count, size_t got,
                const char* what) {
  if (got >= count.least && got <= count.most) return;
  std::string expected = std::to_string(count.least);
  if (count.most == kAny) {
    expected = "at least " + expected;
  } else if (count.most != count.least) {
    expected += " to " + std::to_string(count.most);
  }
  Refuse(place.Operator(index), expected + " " + what, std::to_string(got));
}

// ---- Types and scales --------------------------------------------------------------------------

// That compute with numbers of 8 bits by their scales.
constexpr int kAdd = 0, kSub = 41;
constexpr Kinds kComparisons = {58, 61, 62, 63, 71, 72};  // LESS, GREATER, EQUAL and so on

bool IsOf8Bits(const FileTensor& tensor) {
  return tensor.type == FileType::kInt8 || tensor.type == FileType::kUint8;
}

float ScaleOf(const Place& place, size_t index, int32_t tensor) {
  const FileTensor& file_tensor = place.Graph().tensors[static_cast<size_t>(tensor)];
  if (!file_tensor.quantization.has_value() || file_tensor.quantization->scales.empty()) {
    Refuse(place.Operator(index), "a scale for " + place.Tensor(static_cast<size_t>(tensor)),
           "none");
  }
  return file_tensor.quantization->scales[0];
}

}  // namespace

bool IsCustomOfHosts(std::string_view name) {
  constexpr std::string_view kNames[] = {"AudioSpectrogram", "Mfcc", "NumericVerify",
                                         "TFLite_Detection_PostProcess"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

void OperatorsHaveTheirTensors(const ModelFile& model) {
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const TensorCounts* counts = FindTensorCounts(KindOf(model, op));
    if (counts == nullptr) return;
    CheckCount(place, index, counts->inputs, op.inputs.size(), "inputs");
    CheckCount(place, index, counts->outputs, op.outputs.size(), "outputs");
  });
}

void HostsCustomOperatorsHaveOptions(const ModelFile& model) {
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    if (KindOf(model, op) != builtin::kCustom || !op.options.empty()) return;
    const std::string& name = model.operator_codes[op.code].custom_name;
    if (IsCustomOfHosts(name)) Refuse(place.Operator(index), "options of " + name, "none");
  });
}

// Strings are a block with its own layout, resources and variants none at all: a kernel that takes
// them for numbers writes to where nothing is.
void TypesWithoutASizeAreTaken(const ModelFile& model) {
  static constexpr Kinds kOfAnything = {31,  118, 119, 129, 143,
                                        144, 200, 206, 209};  // calls, state
  static constexpr Kinds kOfStrings = {10, 15, 22, 30, 36,  43,  45,  65,  69, 70,
                                       71, 72, 77, 94, 107, 110, 130, 137, 138};
  static constexpr Kinds kOfResources = {136, 137, 138, 139, 142};
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind == builtin::kCustom || IsOneOf(kind, kOfAnything)) return;
    const auto check = [&](int32_t tensor) {
      if (tensor == kAbsent) return;
      const FileType type = place.Graph().tensors[static_cast<size_t>(tensor)].type;
      const bool is_string = type == FileType::kString;
      const bool is_resource = type == FileType::kResource || type == FileType::kVariant;
      if ((is_string && !IsOneOf(kind, kOfStrings)) ||
          (is_resource && !IsOneOf(kind, kOfResources))) {
        Refuse(place.Operator(index), "tensors of numbers",
               place.Tensor(static_cast<size_t>(tensor)) + " of " +
                   (is_string ? "strings" : "resources"));
      }
    };
    std::ranges::for_each(op.inputs, check);
    std::ranges::for_each(op.outputs, check);
  });
}

// Hosts copy as many bytes as the input has.
void CopiesHaveTheTypeOfTheirInput(const ModelFile& model) {
  // By which input it is: SPLIT has its axis first, SELECT and FILL what they select by and fill.
  static constexpr Kinds kFirst = {2,  5,  22, 26, 34, 36,  37,  38,  39,  43,  45,  60, 65,
                                   69, 70, 83, 88, 93, 100, 102, 105, 107, 112, 130, 151};
  static constexpr Kinds kSecond = {builtin::kSplit, 64, 94, 123};
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (!IsOneOf(kind, kFirst) && !IsOneOf(kind, kSecond)) return;
    const auto input = static_cast<size_t>(op.inputs[IsOneOf(kind, kSecond) ? 1 : 0]);
    for (const int32_t output : op.outputs) {
      const auto tensor = static_cast<size_t>(output);
      if (place.Graph().tensors[tensor].type != place.Graph().tensors[input].type) {
        Refuse(place.Operator(index), "outputs of the type of " + place.Tensor(input),
               place.Tensor(tensor) + " of another");
      }
    }
  });
}

// Hosts multiply by quotients of scales, and abort where one is not below 1.
void ScalesFitTheirOperators(const ModelFile& model) {
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    const bool is_sum = kind == kAdd || kind == kSub;
    if (!is_sum && !IsOneOf(kind, kComparisons)) return;
    if (std::ranges::none_of(op.inputs, [&](int32_t input) {
          return IsOf8Bits(place.Graph().tensors[static_cast<size_t>(input)]);
        })) {
      return;
    }
    float largest = 0;
    for (const int32_t input : op.inputs) largest = std::max(largest, ScaleOf(place, index, input));
    if (is_sum) {
      // They shift numbers of 8 bits by 20.
      const float output = ScaleOf(place, index, op.outputs[0]);
      if (!(2 * largest < output * (1 << 20))) {
        Refuse(place.Operator(index), "an output scale above 2^-19 of its inputs'",
               std::to_string(output) + " for " + std::to_string(largest));
      }
    } else if (!(largest < 1)) {
      Refuse(place.Operator(index), "input scales below 1", std::to_string(largest));
    }
  });
}

namespace {

// The numbers of a constant; none of what is computed, or of another type.
std::vector<int64_t> NumbersOf(const ModelFile& model, const FileTensor& tensor) {
  std::vector<int64_t> numbers;
  const std::span<const uint8_t> data = DataOf(model, tensor);
  const auto read = [&](auto number) {
    for (size_t at = 0; at + sizeof(number) <= data.size(); at += sizeof(number)) {
      std::memcpy(&number, data.data() + at, sizeof(number));
      numbers.push_back(number);
    }
  };
  if (tensor.type == FileType::kInt32) read(int32_t{});
  if (tensor.type == FileType::kInt64) read(int64_t{});
  return numbers;
}

void CheckBroadcast(const Place& place, size_t index, std::span<const int64_t> a,
                    std::span<const int64_t> b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i];
    const int64_t y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) {
      Refuse(place.Operator(index), "shapes that can be made equal",
             SomeOf(a) + " and " + SomeOf(b));
    }
  }
}

void CheckLengths(const Place& place, size_t index, std::span<const int64_t> lengths,
                  const FileTensor& input) {
  const FileOperator& op = place.Graph().operators[index];
  const auto size_of = [&](int32_t dimension) {
    const bool is_one = dimension >= 0 && static_cast<size_t>(dimension) < input.shape.size();
    if (!is_one) {
      Refuse(place.Operator(index), "a dimension of " + SomeOf(input.shape),
             "#" + std::to_string(dimension));
    }
    return input.shape[static_cast<size_t>(dimension)];
  };
  const int64_t size = size_of(op.sequence_dimension);
  size_of(op.batch_dimension);
  for (const int64_t length : lengths) {
    if (length < 0 || length > size) {
      Refuse(place.Operator(index), "sequences of 0 to " + std::to_string(size),
             std::to_string(length));
    }
  }
}

}  // namespace

// Kernels go by these numbers without a look at what they lead to.
void ArgumentsAreInRange(const ModelFile& model) {
  constexpr int kBroadcastArgs = 145;
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    const auto input = [&](size_t i) -> const FileTensor& {
      return place.Graph().tensors[static_cast<size_t>(op.inputs[i])];
    };
    if (kind == kBroadcastArgs) {
      CheckBroadcast(place, index, NumbersOf(model, input(0)), NumbersOf(model, input(1)));
    } else if (kind == builtin::kReverseSequence) {
      CheckLengths(place, index, NumbersOf(model, input(1)), input(0));
    } else if (kind == builtin::kLocalResponseNormalization && op.radius < 0) {
      Refuse(place.Operator(index), "a radius of at least 0", std::to_string(op.radius));
    }
  });
}

namespace {

using Tensors = std::vector<int32_t>;

// As many, of the same types.
void CheckFit(const Place& place, size_t index, std::span<const int32_t> own, const Place& called,
              const Tensors& others, const std::string& what) {
  const std::string name = what + " of graph #" + std::to_string(called.graph);
  if (own.size() != others.size()) {
    Refuse(place.Operator(index), std::to_string(own.size()) + " " + name,
           std::to_string(others.size()));
  }
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] == kAbsent) continue;
    const FileTensor& a = place.Graph().tensors[static_cast<size_t>(own[i])];
    const auto other = static_cast<size_t>(others[i]);
    if (a.type != called.Graph().tensors[other].type) {
      Refuse(place.Operator(index),
             name + " of the same types as its own, such as " +
                 place.Tensor(static_cast<size_t>(own[i])),
             called.Tensor(other));
    }
  }
}

}  // namespace

// Hosts copy between the tensors of an operator and those of the graph that it calls.
void CalledGraphsFit(const ModelFile& model) {
  constexpr int kIf = 118, kWhile = 119, kCallOnce = 129;
  ForEachOperator(model, [&](const Place& place, size_t index, const FileOperator& op) {
    const int kind = KindOf(model, op);
    if (kind != kIf && kind != kWhile && kind != kCallOnce) return;
    for (size_t i = 0; i < op.graphs.size(); ++i) {
      const Place called{.model = model, .graph = static_cast<size_t>(op.graphs[i])};
      const FileGraph& graph = called.Graph();
      // The first input of IF chooses the graph; the first graph of WHILE tells whether to go on.
      const std::span<const int32_t> inputs(op.inputs);
      CheckFit(place, index, kind == kIf ? inputs.subspan(1) : inputs, called, graph.inputs,
               "inputs");
      if (kind == kWhile && i == 0) {
        if (graph.outputs.size() != 1 ||
            graph.tensors[static_cast<size_t>(graph.outputs[0])].type != FileType::kBool) {
          Refuse(place.Operator(index),
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
