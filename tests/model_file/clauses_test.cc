// Tests that a breach of each clause is found by that clause and not by one before it, and that
// legal models pass.
#include "larq_engine/model_file/clauses.h"

#include <deque>
#include <functional>
#include <limits>
#include <set>

#include "gtest/gtest.h"
#include "larq_engine/model_file/refuse.h"

namespace larq_engine {
namespace {

using builtin::kAdd, builtin::kEqual, builtin::kLess, builtin::kSub, builtin::kSquaredDifference,
    builtin::kQuantize, builtin::kBatchMatmul, builtin::kReadVariable, builtin::kAssignVariable,
    builtin::kReverseSequence, builtin::kMatrixDiag, builtin::kMatrixSetDiag;
constexpr int kMul = 18, kRelu = 19, kSelect = 64, kIf = 118, kWhile = 119, kCallOnce = 129,
              kSegmentSum = 125, kBroadcastArgs = 145;

// Returns FULLY_CONNECTED of x and constant weights, then ADD of the result and itself. Tensors are
// 0 x, 1 weights, 2 dense, 3 sum. Operator codes 0 and 1 are these operators; others follow.
ModelFile LegalModel() {
  static const uint8_t weights[4 * 4] = {};
  ModelFile model;
  model.operator_codes = {{.kind = builtin::kFullyConnected}, {.kind = kAdd}};
  model.buffers = {{}, weights};
  FileGraph graph;
  for (const char* name : {"x", "weights", "dense", "sum"}) {
    graph.tensors.push_back({.name = name, .shape = {1, 4}});
  }
  graph.tensors[1].buffer = 1;
  graph.inputs = {0};
  graph.outputs = {3};
  graph.operators = {{.code = 0, .inputs = {0, 1, -1}, .outputs = {2}},
                     {.code = 1, .inputs = {2, 2}, .outputs = {3}}};
  model.graphs = {graph};
  return model;
}

FileTensor& TensorOf(ModelFile& model, size_t index) { return model.graphs[0].tensors[index]; }
FileOperator& OperatorOf(ModelFile& model, size_t index) {
  return model.graphs[0].operators[index];
}

void MakeKind(ModelFile& model, size_t op, int kind, std::vector<int32_t> inputs) {
  OperatorOf(model, op).code = static_cast<uint32_t>(model.operator_codes.size());
  OperatorOf(model, op).inputs = std::move(inputs);
  model.operator_codes.push_back({.kind = kind, .custom_name = kind == 32 ? "Mine" : ""});
}

void Quantize(ModelFile& model, FileType type, std::vector<float> scales,
              std::vector<int64_t> zero_points, int32_t dimension = 0) {
  TensorOf(model, 0).type = type;
  TensorOf(model, 0).quantization = {
      .scales = std::move(scales), .zero_points = std::move(zero_points), .dimension = dimension};
}

// Adds a tensor of strings, in a buffer of these words and some bytes of text after them.
void MakeStrings(ModelFile& model, std::vector<uint32_t> words) {
  static std::vector<std::vector<uint32_t>> kept;
  words.push_back(0);
  kept.push_back(words);
  model.buffers.push_back({reinterpret_cast<const uint8_t*>(kept.back().data()), 4 * words.size()});
  model.graphs[0].tensors.push_back({.name = "text",
                                     .type = FileType::kString,
                                     .shape = {static_cast<int32_t>(words[0])},
                                     .buffer = static_cast<uint32_t>(model.buffers.size() - 1)});
}

// Makes the weights sparse: rows of 4 with blocks of 2, and two of the four blocks have values.
void MakeSparse(ModelFile& model, const std::function<void(FileSparsity&)>& change = nullptr) {
  TensorOf(model, 1).shape = {2, 4};
  FileSparsity sparsity = {
      .traversal_order = {0, 1, 2},
      .block_map = {1},
      .dimensions = {{.dense_size = 2},
                     {.is_sparse = true,
                      .segments = std::vector<uint64_t>{0, 1, 2},
                      .indices = std::vector<uint64_t>{1, 0}},
                     {.dense_size = 2}},
  };
  if (change != nullptr) change(sparsity);
  TensorOf(model, 1).sparsity = sparsity;
}

void MakeBlockwise(ModelFile& model, BlockwiseQuantization blocks) {
  TensorOf(model, 1).quantization = FileQuantization();
  TensorOf(model, 1).quantization->blockwise = blocks;
}

// Adds a graph without tensors that calls others, and returns its number.
int64_t AddGraph(ModelFile& model, std::vector<int64_t> called) {
  FileGraph graph;
  model.operator_codes.push_back({.kind = kCallOnce});
  const auto code = static_cast<uint32_t>(model.operator_codes.size() - 1);
  graph.operators = {{.code = code, .graphs = std::move(called)}};
  model.graphs.push_back(graph);
  return static_cast<int64_t>(model.graphs.size()) - 1;
}

// Adds graph 1, which has an input and an output of floats; the second operator calls it with its
// output.
void MakeCall(ModelFile& model, int kind, std::vector<int32_t> inputs) {
  model.graphs.push_back(
      {.tensors = {{.name = "in", .shape = {1, 4}}}, .inputs = {0}, .outputs = {0}});
  MakeKind(model, 1, kind, std::move(inputs));
  OperatorOf(model, 1).graphs = {1};
}

// Makes the second operator read constants of these numbers, or x if there are none.
void MakeNumbers(ModelFile& model, int kind, std::vector<int32_t> first,
                 std::vector<int32_t> second) {
  static std::deque<std::vector<int32_t>> kept;
  MakeKind(model, 1, kind, {});
  for (const std::vector<int32_t>& numbers : {first, second}) {
    FileTensor tensor = {.name = "numbers"};
    if (numbers.empty()) {
      OperatorOf(model, 1).inputs.push_back(0);
      continue;
    }
    kept.push_back(numbers);
    model.buffers.push_back(
        {reinterpret_cast<const uint8_t*>(kept.back().data()), numbers.size() * sizeof(int32_t)});
    tensor.type = FileType::kInt32;
    tensor.shape = {static_cast<int32_t>(numbers.size())};
    tensor.buffer = static_cast<uint32_t>(model.buffers.size() - 1);
    OperatorOf(model, 1).inputs.push_back(static_cast<int32_t>(model.graphs[0].tensors.size()));
    model.graphs[0].tensors.push_back(tensor);
  }
}

// Adds a second graph that assigns [1, 4] to a state; the first graph reads the state with `shape`.
void MakeState(ModelFile& model, std::vector<int32_t> shape) {
  model.operator_codes.push_back({.kind = builtin::kVarHandle});
  model.operator_codes.push_back({.kind = kReadVariable});
  model.operator_codes.push_back({.kind = kAssignVariable});
  const auto code = static_cast<uint32_t>(model.operator_codes.size() - 3);
  FileGraph& graph = model.graphs[0];
  graph.tensors.push_back({.name = "handle", .type = FileType::kResource, .shape = {1}});
  graph.tensors.push_back({.name = "old", .shape = std::move(shape)});
  graph.operators.push_back({.code = code, .outputs = {4}, .state = "sum"});
  graph.operators.push_back({.code = code + 1, .inputs = {4}, .outputs = {5}});
  model.graphs.push_back({.tensors = {{.name = "handle", .type = FileType::kResource, .shape = {1}},
                                      {.name = "start", .shape = {1, 4}}},
                          .inputs = {1},
                          .operators = {{.code = code, .outputs = {0}, .state = "sum"},
                                        {.code = code + 2, .inputs = {0, 1}}}});
}

// Quantizes both inputs of the second operator and its output.
void MakeInt8(ModelFile& model, int kind, float input_scale, float output_scale,
              FileType type = FileType::kInt8) {
  MakeKind(model, 1, kind, {2, 2});
  for (const size_t tensor : {2, 3}) {
    TensorOf(model, tensor).type = type;
    TensorOf(model, tensor).quantization = {.scales = {tensor == 2 ? input_scale : output_scale},
                                            .zero_points = {0}};
  }
}

// Does the same, but the inputs have several scales.
void MakeSeveralScales(ModelFile& model, int kind, float scale) {
  MakeInt8(model, kind, 1, 1);
  TensorOf(model, 2).quantization = {
      .scales = {scale, 1, 1, 1}, .zero_points = {0, 0, 0, 0}, .dimension = 1};
}

// Makes the second operator set the diagonals of two matrices of 3 x 4 to constants.
void MakeDiagonal(ModelFile& model, std::vector<int32_t> diagonal) {
  MakeNumbers(model, kMatrixSetDiag, {}, std::move(diagonal));
  OperatorOf(model, 1).inputs[0] = 2;
  for (const size_t tensor : {2, 3}) {
    TensorOf(model, tensor).shape = {2, 3, 4};
    TensorOf(model, tensor).type = FileType::kInt32;
  }
}

constexpr char kMeasureAgain[] = "quantize with data of the range that the model is for";

struct Breach {
  const char* clause;
  std::function<void(ModelFile&)> change;
  const char* message;
  const char* remedy = kDamaged;
};

const std::vector<Breach>& Breaches() {
  static const std::vector<Breach> breaches = {
      {"ThereIsAGraph", [](ModelFile& m) { m.graphs.clear(); }, "expected a graph, got none; "},
      {"SizesAreOfAShape",
       [](ModelFile& m) {
         TensorOf(m, 2).shape = {1, -4};
       },
       "expected sizes of at least 0, got [1, -4]; "},
      {"SizesAreOfAShape",
       [](ModelFile& m) {
         TensorOf(m, 2).shape = {2147483647, 2147483647, 2};
       },
       "expected a shape of at most 2^60 bytes, got [2147483647, 2147483647, 2]; "},
      {"SignaturesOfShapesFit",
       [](ModelFile& m) {
         TensorOf(m, 0).signature = {-2, 4};
       },
       "expected a shape signature of sizes, or -1 for open ones, got [-2, 4]; "},
      {"BuffersExist", [](ModelFile& m) { TensorOf(m, 2).buffer = 2; },
       "tensor 'dense' (#2): expected a buffer of 2, got #2; "},
      {"ConstantsFillTheirShapes",
       [](ModelFile& m) {
         TensorOf(m, 1).shape = {1, 5};
       },
       "tensor 'weights' (#1): expected 20 bytes for the shape [1, 5], got 16; "},
      {"ConstantsFillTheirShapes", [](ModelFile& m) { TensorOf(m, 1).type = FileType::kInt4; },
       "expected 2 bytes for the shape [1, 4], got 16; "},
      {"StringsLieInTheirBuffers",
       [](ModelFile& m) {
         MakeStrings(m, {2, 16, 15, 16});
       },
       "expected strings one after the other in 20 bytes, got one at byte 15; "},
      {"StringsLieInTheirBuffers",
       [](ModelFile& m) {
         MakeStrings(m, {1, 12, 17});
       },
       "got one at byte 17; "},
      {"StringsLieInTheirBuffers",
       [](ModelFile& m) {
         MakeStrings(m, {1, 0, 13});
       },
       "got one at byte 0; "},
      {"StringsLieInTheirBuffers",
       [](ModelFile& m) {
         MakeStrings(m, {9, 12, 13});
       },
       "tensor 'text' (#4): expected the places of its strings, got the end of its buffer; "},
      {"ScalesAreNumbers", [](ModelFile& m) { Quantize(m, FileType::kInt16, {-1}, {0}); },
       "tensor 'x' (#0): expected scales of at least 0, got -1; "},
      {"ScalesAreNumbers",
       [](ModelFile& m) {
         Quantize(m, FileType::kInt4, {std::numeric_limits<float>::infinity()}, {0});
       },
       "expected scales of at least 0, got inf; "},
      {"ZeroPointsAreOfTheirType", [](ModelFile& m) { Quantize(m, FileType::kInt8, {1}, {128}); },
       "expected zero points of -128 to 127, got 128; "},
      {"ZeroPointsAreOfTheirType", [](ModelFile& m) { Quantize(m, FileType::kUint8, {1}, {-1}); },
       "expected zero points of 0 to 255, got -1; "},
      {"ZeroPointsAreOfTheirType",
       [](ModelFile& m) { Quantize(m, FileType::kInt16, {1}, {40000}); },
       "expected zero points of -32768 to 32767, got 40000; "},
      {"ZeroPointsAreOfTheirType",
       [](ModelFile& m) { Quantize(m, FileType::kInt32, {1}, {int64_t{1} << 40}); },
       "expected zero points of -2147483648 to 2147483647, got 1099511627776; "},
      {"EachScaleHasAZeroPoint", [](ModelFile& m) { Quantize(m, FileType::kInt32, {1}, {}); },
       "expected 1 zero points, one for each scale, got 0; "},
      {"EachScaleHasAZeroPoint",
       [](ModelFile& m) {
         Quantize(m, FileType::kInt8, {1, 1, 1, 1}, {0}, 1);
       },
       "expected 4 zero points, one for each scale, got 1; "},
      {"ScalesAreOneOrOneForEachSlice",
       [](ModelFile& m) { Quantize(m, FileType::kInt8, {1}, {0}, 2); },
       "expected scales along a dimension of [1, 4], got #2; "},
      {"ScalesAreOneOrOneForEachSlice",
       [](ModelFile& m) { Quantize(m, FileType::kFloat32, {1}, {0}, -1); }, "got #-1; "},
      {"ScalesAreOneOrOneForEachSlice",
       [](ModelFile& m) {
         Quantize(m, FileType::kInt8, {1, 1}, {0, 0}, 1);
       },
       "expected one scale or 4, got 2; "},
      {"ScalesAreOneOrOneForEachSlice",
       [](ModelFile& m) {
         TensorOf(m, 0).shape.clear();
         Quantize(m, FileType::kInt8, {1, 1}, {0, 0});
       },
       "expected one scale or 1, got 2; "},
      {"BlocksHaveScales",
       [](ModelFile& m) { MakeBlockwise(m, {.scales = 4, .zero_points = -1, .block_size = 2}); },
       "expected scales in a tensor of 4, got #4; "},
      {"BlocksHaveScales",
       [](ModelFile& m) { MakeBlockwise(m, {.scales = 0, .zero_points = -1, .block_size = 2}); },
       "expected scales in a constant, got #0; "},
      {"BlocksHaveScales",
       [](ModelFile& m) { MakeBlockwise(m, {.scales = 1, .zero_points = 9, .block_size = 2}); },
       "expected zero points in a tensor of 4, got #9; "},
      {"BlocksHaveScales", [](ModelFile& m) { MakeBlockwise(m, {.scales = 1, .zero_points = -1}); },
       "expected blocks of at least 1, got 0; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].indices->at(0) = 2; });
       },
       "tensor 'weights' (#1): expected sparse indices below 2, got 2; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].segments->at(2) = 3; });
       },
       "expected 2 sparse segments of 2 indices, got [0, 1, 3]; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].segments->at(1) = 3; });
       },
       "got [0, 3, 2]; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].segments->push_back(2); });
       },
       "got [0, 1, 2, 2]; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].indices.reset(); });
       },
       "expected segments and indices of a sparse dimension, got none; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) { s.traversal_order.pop_back(); }); },
       "expected sparse 3 dimensions, got 2 to walk, 3 described; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) { s.dimensions.pop_back(); }); },
       "got 3 to walk, 2 described; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) {
                            s.traversal_order = {0, 0, 1};
                          }); },
       "expected an order of all 3 dimensions, got [0, 0, 1]; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) { s.block_map = {2}; }); },
       "expected blocks of dimensions in order, got [2]; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) { s.dimensions[2].dense_size = 0; }); },
       "expected blocks that divide a dimension of 4, got one of 0; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) { MakeSparse(m, [](FileSparsity& s) { s.dimensions[0].dense_size = 3; }); },
       "expected a dense dimension of 2, got 3; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m);
         TensorOf(m, 1).type = FileType::kInt8;
       },
       "expected 4 bytes of sparse values, got 16; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m, [](FileSparsity& s) { s.dimensions[1].segments = {{0, 2, 2}}; });
       },
       "expected sparse indices that rise, got 0 after 1; "},
      {"SparseIndicesLeadIntoTheTensor",
       [](ModelFile& m) {
         MakeSparse(m);
         TensorOf(m, 1).buffer = 0;
       },
       "expected a sparse constant of numbers, got none; "},
      {"KindsExist", [](ModelFile& m) { OperatorOf(m, 1).code = 2; },
       "operator #1, to 'sum': expected a kind of 2, got #2; "},
      {"KindsExist", [](ModelFile& m) { m.operator_codes[1].kind = -1; },
       "operator code #1: expected a kind of at least 0, got -1; "},
      {"KindsExist", [](ModelFile& m) { m.operator_codes[1].kind = builtin::kCustom; },
       "operator code #1: expected the name of a custom operator, got none; "},
      {"OutputsArePresent",
       [](ModelFile& m) {
         OperatorOf(m, 1).outputs = {3, -1};
       },
       "operator #1, to 'sum': expected a tensor for each output, got one that is absent; "},
      {"TensorsExist",
       [](ModelFile& m) {
         OperatorOf(m, 1).inputs = {2, 4};
       },
       "expected an input out of tensors of 4, got #4; "},
      {"TensorsExist",
       [](ModelFile& m) {
         OperatorOf(m, 1).inputs = {2, -2};
       },
       "got #-2; "},
      {"TensorsExist", [](ModelFile& m) { OperatorOf(m, 1).outputs = {4}; },
       "operator #1: expected an output out of tensors of 4, got #4; "},
      {"TensorsExist", [](ModelFile& m) { OperatorOf(m, 1).intermediates = {4}; },
       "expected an intermediate out of tensors of 4, got #4; "},
      {"TensorsExist", [](ModelFile& m) { m.graphs[0].inputs = {-1}; },
       "graph #0: expected an input out of tensors of 4, got #-1; "},
      {"TensorsExist", [](ModelFile& m) { m.graphs[0].outputs = {4}; },
       "graph #0: expected an output out of tensors of 4, got #4; "},
      {"OperatorsHaveTheirTensors",
       [](ModelFile& m) {
         MakeKind(m, 1, kRelu, {2, 2});
       },
       "operator #1, to 'sum': expected 1 inputs, got 2; "},
      {"OperatorsHaveTheirTensors", [](ModelFile& m) { OperatorOf(m, 0).inputs = {0}; },
       "operator #0, to 'dense': expected 2 to 4 inputs, got 1; "},
      {"OperatorsHaveTheirTensors", [](ModelFile& m) { OperatorOf(m, 1).outputs = {}; },
       "operator #1: expected 1 outputs, got 0; "},
      {"OperatorsHaveTheirTensors", [](ModelFile& m) { MakeKind(m, 1, kIf, {}); },
       "expected at least 1 inputs, got 0; "},
      {"HostsCustomOperatorsHaveOptions",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kCustom, {2});
         m.operator_codes.back().custom_name = "TFLite_Detection_PostProcess";
       },
       "operator #1, to 'sum': expected options of TFLite_Detection_PostProcess, got none; "},
      {"DepthwiseConvolutionsHaveABias",
       [](ModelFile& m) { MakeInt8(m, builtin::kDepthwiseConv2d, 1, 1); },
       "operator #1, to 'sum': expected a bias, as it is not of int16, got none; ",
       "hosts would crash: give zeros"},
      {"DepthwiseConvolutionsHaveABias",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kDepthwiseConv2d, {2, 2});
       },
       "expected a bias, as it is not of int16, got none; ", "hosts would crash: give zeros"},
      {"TypesWithoutASizeAreTaken",
       [](ModelFile& m) {
         MakeKind(m, 1, kReadVariable, {2});
         TensorOf(m, 2).type = TensorOf(m, 3).type = FileType::kResource;
         MakeKind(m, 0, builtin::kCustom, {0});
       },
       "operator #1, to 'sum': expected tensors of numbers, got tensor 'sum' (#3) of resources; ",
       "hosts would crash: compute with these outside of the model"},
      {"TypesWithoutASizeAreTaken",
       [](ModelFile& m) {
         MakeKind(m, 1, kAssignVariable, {2, 2});
         OperatorOf(m, 1).outputs = {};
         TensorOf(m, 2).type = FileType::kResource;
         MakeKind(m, 0, builtin::kCustom, {0});
       },
       "operator #1: expected tensors of numbers, got tensor 'dense' (#2) of resources; ",
       "hosts would crash: compute with these outside of the model"},
      {"TypesWithoutASizeAreTaken", [](ModelFile& m) { TensorOf(m, 3).type = FileType::kString; },
       "operator #1, to 'sum': expected tensors of numbers, got tensor 'sum' (#3) of strings; ",
       "hosts would crash: compute with these outside of the model"},
      {"TypesWithoutASizeAreTaken",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kReshape, {2});
         TensorOf(m, 3).type = FileType::kResource;
       },
       "got tensor 'sum' (#3) of resources; ",
       "hosts would crash: compute with these outside of the model"},
      {"CopiesHaveTheTypeOfTheirInput",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kReshape, {2});
         TensorOf(m, 3).type = FileType::kInt16;
       },
       "operator #1, to 'sum': expected outputs of the type of tensor 'dense' (#2), got tensor "
       "'sum' (#3) of another; "},
      {"CopiesHaveTheTypeOfTheirInput",
       [](ModelFile& m) {
         MakeKind(m, 1, kMatrixDiag, {2});
         TensorOf(m, 3).type = FileType::kInt8;
       },
       "expected outputs of the type of tensor 'dense' (#2), got tensor 'sum' (#3) of another; "},
      {"CopiesHaveTheTypeOfTheirInput",
       [](ModelFile& m) {
         MakeKind(m, 1, kSegmentSum, {2, 2});
         TensorOf(m, 3).type = FileType::kInt8;
       },
       "expected outputs of the type of tensor 'dense' (#2), got tensor 'sum' (#3) of another; "},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) {
         MakeInt8(m, kAdd, 1, 1);
         TensorOf(m, 3).quantization.reset();
       },
       "operator #1, to 'sum': expected a scale of tensor 'sum' (#3) above 1.90735e-06, as those "
       "of "
       "its inputs are up to 1, got none; hosts would crash: ",
       kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kAdd, 1, 1e-6f); },
       "as those of its inputs are up to 1, got 1e-06; hosts would crash: ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kSub, 1, 1.0f / (1 << 19)); },
       "got 1.90735e-06; tflite_runtime 2.14 would crash: ", kMeasureAgain},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) { MakeInt8(m, kAdd, 1, 1.0f / (1 << 14), FileType::kInt16); },
       "above 6.10352e-05, as those of its inputs are up to 1, got 6.10352e-05; ", kMeasureAgain},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) { MakeInt8(m, kSquaredDifference, 1, 1.0f / (1 << 12)); },
       "above 0.000244141, as those of its inputs are up to 1, got 0.000244141; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kAdd, 0, 1); },
       "expected a scale of tensor 'dense' (#2) above 0, got 0; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kAdd, 1, 3.3e32f); },
       "expected a scale of tensor 'sum' (#3) of at most 3.24519e+32, got 3.3e+32; ",
       kMeasureAgain},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) { MakeInt8(m, kAdd, 1, 1.1e34f, FileType::kInt16); },
       "of at most 1.03846e+34, got 1.1e+34; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeSeveralScales(m, kAdd, 0.5f); },
       "expected a scale of tensor 'dense' (#2) above 0, got 4 scales; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeSeveralScales(m, kLess, 0.5f); },
       "above 0, and not 1, got 4 scales; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kLess, 1, 1); },
       "expected a scale of tensor 'dense' (#2) above 0, and not 1, got 1; ", kMeasureAgain},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) {
         MakeInt8(m, kEqual, 0.5f, 1);
         TensorOf(m, 2).quantization.reset();
       },
       "expected a scale of tensor 'dense' (#2) above 0, and not 1, got none; ", kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kEqual, 1, 1, FileType::kInt16); },
       "above 0, and not 1, got 1; ", kMeasureAgain},
      {"ScalesFitTheirOperators",
       [](ModelFile& m) {
         MakeInt8(m, kQuantize, 1, 0);
         OperatorOf(m, 1).inputs = {2};
       },
       "expected a scale of tensor 'sum' (#3) of at least 1.2e-38, got 0; XNNPACK of LiteRT 2.3 "
       "would crash: ",
       kMeasureAgain},
      {"ScalesFitTheirOperators", [](ModelFile& m) { MakeInt8(m, kBatchMatmul, 1e-40f, 1); },
       "of at least 1.2e-38, got 9.99995e-41; ", kMeasureAgain},
      {"AbsentInputsAreOptional",
       [](ModelFile& m) {
         OperatorOf(m, 0).inputs = {0, -1, -1};
       },
       "operator #0, to 'dense': expected a tensor for input #1, got none; "},
      {"AbsentInputsAreOptional",
       [](ModelFile& m) {
         MakeKind(m, 1, kMul, {2, -1});
       },
       "operator #1, to 'sum': expected a tensor for input #1, got none; "},
      {"AbsentInputsAreOptional", [](ModelFile& m) { MakeKind(m, 1, kRelu, {-1}); },
       "expected a tensor for input #0, got none; "},
      {"AbsentInputsAreOptional",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kLstm, {2, -1, 2, 2, 2});
       },
       "expected a tensor for input #1, got none; "},
      {"AbsentInputsAreOptional",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kCustom, {-1});
         m.operator_codes.back().custom_name = "TFLite_Detection_PostProcess";
         OperatorOf(m, 1).options = m.buffers[1];
       },
       "expected a tensor for input #0, got none; "},
      {"RepeatedShapesAreOfAFewDimensions",
       [](ModelFile& m) {
         MakeKind(m, 1, kLess, {2, 0});
         TensorOf(m, 2).shape = {1, 1, 1, 1, 1, 1, 1, 1, 2};
       },
       "operator #1, to 'sum': expected equal shapes, or at most 8 dimensions, got 9 dimensions of "
       "[1, 1, 1, 1, 1, 1, 1, 1, ...] and [1, 4]; ",
       "hosts would crash: leave out dimensions of 1"},
      {"RepeatedShapesAreOfAFewDimensions",
       [](ModelFile& m) {
         MakeKind(m, 1, kLess, {2, 0});
         TensorOf(m, 2).shape = TensorOf(m, 2).signature = {1, 1, 1, 1, 1, 1, 1, 1, 2};
         TensorOf(m, 2).signature[0] = -1;
       },
       "expected equal shapes, or at most 8 dimensions, got 9 dimensions of ",
       "hosts would crash: leave out dimensions of 1"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeNumbers(m, kBroadcastArgs, {2, 3}, {3, 3});
       },
       "operator #1, to 'sum': expected shapes that can be made equal, got [2, 3] and [3, 3]; ",
       "hosts would crash: give shapes of which one can be repeated to the other"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeNumbers(m, kBroadcastArgs, std::vector<int32_t>(129, 1), {3, 3});
       },
       "expected a shape of at most 512 bytes, got 516; ",
       "hosts have tensors of 8 dimensions: give fewer"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kLocalResponseNormalization, {2});
         OperatorOf(m, 1).radius = -1;
       },
       "expected a radius of 0 to 2^30, got -1; ", "hosts would crash: give one of channels"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeNumbers(m, kReverseSequence, {}, {1, -2});
       },
       "operator #1, to 'sum': expected lengths of at least 0, got -2; ",
       "hosts would crash: give how many to reverse"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeNumbers(m, kReverseSequence, {}, {4, 5});
         OperatorOf(m, 1).sequence_dimension = 1;
         TensorOf(m, 0).signature = {-1, 4};
       },
       "expected lengths of at most 4, as its sequences are, got 5; ",
       "hosts would crash: give how many to reverse"},
      {"ArgumentsAreInRange",  // int64, in a buffer that is legal as int32
       [](ModelFile& m) {
         MakeNumbers(m, kReverseSequence, {}, {1, 1});
         OperatorOf(m, 1).sequence_dimension = 1;
         FileTensor lengths = m.graphs[0].tensors.back();
         lengths.type = FileType::kInt64;
         lengths.shape = {1};
         m.graphs[0].tensors.push_back(lengths);
         m.graphs[0].tensors.push_back({.name = "other", .shape = {1, 4}});
         m.graphs[0].operators.push_back(OperatorOf(m, 1));
         OperatorOf(m, 2).inputs[1] = 5;
         OperatorOf(m, 2).outputs = {6};
       },
       "expected lengths of at most 4, as its sequences are, got 4294967297; ",
       "hosts would crash: give how many to reverse"},
      {"DiagonalsFitTheirMatrices",
       [](ModelFile& m) {
         MakeKind(m, 1, kMatrixDiag, {2});
         MakeKind(m, 0, builtin::kCustom, {0});
         TensorOf(m, 2).type = TensorOf(m, 3).type = FileType::kBool;
       },
       "operator #1, to 'sum': expected values of int8, uint8, int16 or at least 32 bits, got "
       "tensor 'dense' (#2) of another type; ",
       "hosts would crash: cast them before"},
      {"DiagonalsFitTheirMatrices",
       [](ModelFile& m) {
         MakeKind(m, 1, kMatrixSetDiag, {2, 0});
         TensorOf(m, 0).type = FileType::kInt8;
       },
       "operator #1, to 'sum': expected a diagonal of the type of tensor 'dense' (#2), got tensor "
       "'x' (#0) of another; "},
      {"DiagonalsFitTheirMatrices",
       [](ModelFile& m) {
         MakeDiagonal(m, {1, 2, 3, 4, 5});
       },
       "expected 6 values for the diagonals of [2, 3, 4], got 5; ",
       "hosts would crash: give one for each row or column"},
      {"ArgumentsAreInRange",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kAveragePool2d, {2});
         OperatorOf(m, 1).filter_width = 2;
         OperatorOf(m, 1).filter_height = -3;
       },
       "operator #1, to 'sum': expected a filter of at least 0 pixels a side, got 2 x -3; ",
       "hosts would crash: give its width and height"},
      {"ManyDimensionsAreKept",
       [](ModelFile& m) {
         MakeKind(m, 1, kRelu, {2});
         TensorOf(m, 2).shape = {1, 1, 1, 1, 1, 1, 4};
       },
       "operator #1, to 'sum': expected 7 dimensions of tensor 'sum' (#3), as of tensor 'dense' "
       "(#2), got 2; ",
       "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1"},
      {"LayersStatesAreOfTheirType",
       [](ModelFile& m) {
         m.graphs[0].tensors.push_back(
             {.name = "state", .type = FileType::kInt4, .shape = {1, 8}, .is_variable = true});
         MakeKind(m, 1, builtin::kSvdf, {2, 1, 1, -1, 4});
       },
       "operator #1, to 'sum': expected a state of float32, as its input is, got tensor 'state' "
       "(#4) of another type; "},
      {"StatesKeepTheirShape",
       [](ModelFile& m) {
         MakeState(m, {7, 4});
       },
       "graph #1, operator #1: expected the shape in which the state is read, [7, 4], got graph "
       "#1, "
       "tensor 'start' (#1) of [1, 4]; "},
      {"SplitsHaveAnOutputForEachPart",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kSplit, {2, 2});
       },
       "operator #1, to 'sum': expected a SPLIT into its 1 outputs, got 0 parts; "},
      {"SplitsHaveAnOutputForEachPart",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kSplit, {2, 2});
         OperatorOf(m, 1).split_parts = -1;
       },
       "got -1 parts; "},
      {"NoConstantIsComputed", [](ModelFile& m) { OperatorOf(m, 1).outputs = {1}; },
       "operator #1, to 'weights': expected outputs without data of their own, got the constant "
       "tensor 'weights' (#1); "},
      {"NoConstantIsAGraphInput",
       [](ModelFile& m) {
         m.graphs[0].inputs = {0, 1};
       },
       "graph #0: expected inputs without data of their own, got the constant tensor 'weights' ",
       "what is set would be written over the file's bytes: take it out of the inputs"},
      {"TensorsAreWrittenOnce", [](ModelFile& m) { OperatorOf(m, 1).outputs = {2}; },
       "operator #1, to 'dense': expected outputs that nobody else writes, got tensor 'dense' "
       "(#2), an output of operator #0; "},
      {"TensorsAreWrittenOnce",
       [](ModelFile& m) {
         MakeKind(m, 1, builtin::kCustom, {2});
         OperatorOf(m, 1).outputs = {3, 3};
       },
       "got tensor 'sum' (#3), an output of operator #1; "},
      {"TensorsAreWrittenOnce", [](ModelFile& m) { OperatorOf(m, 1).outputs = {0}; },
       "got tensor 'x' (#0), an input of the graph; "},
      {"InputsAreKnownBefore", [](ModelFile& m) { std::swap(OperatorOf(m, 0), OperatorOf(m, 1)); },
       "operator #0, to 'sum': expected inputs that are known before it runs, got tensor 'dense' "
       "(#2), an output of operator #1; "},
      {"InputsAreKnownBefore",
       [](ModelFile& m) {
         OperatorOf(m, 1).inputs = {3, 3};
       },
       "got tensor 'sum' (#3), an output of operator #1; "},
      {"InputsAreKnownBefore",
       [](ModelFile& m) { m.graphs[0].operators.erase(m.graphs[0].operators.begin()); },
       "got tensor 'dense' (#2), which nobody writes; "},
      {"InputsAreKnownBefore",
       [](ModelFile& m) {
         m.graphs[0].tensors.push_back(
             {.name = "text", .type = FileType::kString, .shape = {2}, .is_external = true});
         MakeKind(m, 1, builtin::kCustom, {4});
       },
       "got tensor 'text' (#4), which nobody writes; "},
      {"InputsAreKnownBefore", [](ModelFile& m) { m.graphs[0].operators.pop_back(); },
       "graph #0: expected outputs that are computed, got tensor 'sum' (#3), which nobody writes"},
      {"InputsAreKnownBefore",
       [](ModelFile& m) {
         m.graphs[0].tensors.push_back({.name = "shape", .shape = {2}});
         MakeKind(m, 1, builtin::kReshape, {2, 4});
       },
       "got tensor 'shape' (#4), which nobody writes; "},
      {"GraphsDoNotCallThemselves", [](ModelFile& m) { OperatorOf(m, 1).graphs = {1}; },
       "operator #1, to 'sum': expected a graph to call out of 1, got #1; "},
      {"GraphsDoNotCallThemselves", [](ModelFile& m) { OperatorOf(m, 1).graphs = {-1}; },
       "got #-1; "},
      {"GraphsDoNotCallThemselves", [](ModelFile& m) { OperatorOf(m, 1).graphs = {0}; },
       "graph #0: expected graphs that do not call themselves, got a cycle of calls; "},
      {"GraphsDoNotCallThemselves",
       [](ModelFile& m) {
         OperatorOf(m, 1).graphs = {2};
         AddGraph(m, {2});
         AddGraph(m, {1});
       },
       "graph #1: expected graphs that do not call themselves, got a cycle of calls; "},
      {"GraphsDoNotCallThemselves",
       [](ModelFile& m) {
         int64_t last = AddGraph(m, {});
         for (int i = 0; i < 64; ++i) last = AddGraph(m, {last});
         OperatorOf(m, 1).graphs = {last};
       },
       "expected at most 64 graphs within each other and 65536 ways to a graph, got more; ",
       "hosts would run out of stack or time: nest fewer calls"},
      {"GraphsDoNotCallThemselves",
       [](ModelFile& m) {
         int64_t last = AddGraph(m, {});
         for (int i = 0; i < 17; ++i) last = AddGraph(m, {last, last});
         OperatorOf(m, 1).graphs = {last};
       },
       "ways to a graph, got more; ", "hosts would run out of stack or time: nest fewer calls"},
      {"CalledGraphsFit", [](ModelFile& m) { MakeCall(m, kIf, {2}); },
       "operator #1, to 'sum': expected 0 inputs of graph #1, got 1; "},
      {"CalledGraphsFit",
       [](ModelFile& m) {
         MakeCall(m, kIf, {2, 2});
         m.graphs[1].tensors[0].type = FileType::kInt8;
       },
       "expected inputs of graph #1 of the same types as its own, such as tensor 'dense' (#2), got "
       "graph #1, tensor 'in' (#0); "},
      {"CalledGraphsFit",
       [](ModelFile& m) {
         MakeCall(m, kIf, {0, 2});
         TensorOf(m, 2).shape = {1, 1, 1, 1, 1, 1, 4};
       },
       "operator #1, to 'sum': expected at most 6 dimensions, or as many as graph #1, tensor 'in' "
       "(#0), got 7; ",
       "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1"},
      {"CalledGraphsFit", [](ModelFile& m) { MakeCall(m, kWhile, {2}); },
       "expected a graph #1 with one output of a bool, got another; "},
      {"MetadataExist", [](ModelFile& m) { m.metadata = {{.is_present = true, .index = 2}}; },
       "metadata: expected a buffer of 2, got #2; "},
      {"MetadataExist", [](ModelFile& m) { m.metadata = {{.is_present = false, .index = 1}}; },
       "metadata: expected a name, got none; "},
      {"SignaturesNameTensors", [](ModelFile& m) { m.signatures = {{.has_key = false}}; },
       "signature #0: expected a key, got none; "},
      {"SignaturesNameTensors",
       [](ModelFile& m) { m.signatures = {{.has_key = true, .graph = 1}}; },
       "signature #0: expected a graph out of 1, got #1; "},
      {"SignaturesNameTensors",
       [](ModelFile& m) {
         m.signatures = {{.has_key = true, .outputs = {{.is_present = true, .index = 4}}}};
       },
       "signature #0: expected a name of one out of tensors of 4, got #4; "},
      {"SignaturesNameTensors",
       [](ModelFile& m) { m.signatures = {{.has_key = true, .inputs = {{.is_present = false}}}}; },
       "signature #0: expected a name for each tensor, got none; "},
  };
  return breaches;
}

std::string RefusalBy(const Clause& clause, const ModelFile& model) {
  try {
    clause.check(model);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

std::string Refusal(const ModelFile& model) {
  for (const Clause& clause : Clauses()) {
    const std::string refusal = RefusalBy(clause, model);
    if (!refusal.empty()) return refusal;
  }
  return "";
}

class Breached : public ::testing::TestWithParam<size_t> {};

TEST_P(Breached, IsSeen) {
  const Breach& breach = Breaches()[GetParam()];
  ModelFile model = LegalModel();
  breach.change(model);
  for (const Clause& clause : Clauses()) {
    const std::string refusal = RefusalBy(clause, model);
    if (std::string(clause.name) != breach.clause) {
      ASSERT_EQ(refusal, "") << clause.name;
      continue;
    }
    EXPECT_NE(refusal.find(breach.message), std::string::npos) << refusal;
    EXPECT_TRUE(refusal.ends_with(breach.remedy)) << refusal;
    return;
  }
  FAIL() << "no clause of this name";
}

INSTANTIATE_TEST_SUITE_P(Clause, Breached, ::testing::Range<size_t>(0, Breaches().size()),
                         [](const auto& info) {
                           return Breaches()[info.param].clause + std::string("_") +
                                  std::to_string(info.param);
                         });

TEST(Clauses, EachHasABreach) {
  std::set<std::string> breached;
  for (const Breach& breach : Breaches()) breached.insert(breach.clause);
  std::set<std::string> names;
  for (const Clause& clause : Clauses()) names.insert(clause.name);
  EXPECT_EQ(breached, names);
}

TEST(Clauses, WhatIsLegalPasses) {
  const std::vector<std::function<void(ModelFile&)>> changes = {
      [](ModelFile&) {},
      // Open sizes, sizes of 0, no rank, and a type whose size is not fixed or not known.
      [](ModelFile& m) {
        TensorOf(m, 0).signature = {-1, 4};
      },
      [](ModelFile& m) {
        TensorOf(m, 2).shape = {0, 2147483647};
      },
      [](ModelFile& m) { TensorOf(m, 2).shape.clear(); },
      [](ModelFile& m) {
        MakeKind(m, 0, builtin::kCustom, {0, 1});
        TensorOf(m, 1).type = FileType::kVariant;
      },
      [](ModelFile& m) { TensorOf(m, 2).type = static_cast<FileType>(99); },
      [](ModelFile& m) {
        MakeStrings(m, {1, 12, 16});
      },
      // Quantization that hosts accept; tensors that no kernel reads may have any scale.
      [](ModelFile& m) { Quantize(m, FileType::kInt8, {0.5f}, {-128}, 1); },
      [](ModelFile& m) {
        Quantize(m, FileType::kInt8, {1, 1, 1, 1}, {0, 0, 0, 0}, 1);
      },
      [](ModelFile& m) { Quantize(m, FileType::kInt32, {0}, {0}); },
      // Scales that converters write for channels that do nothing, and for values that are always
      // 0.
      [](ModelFile& m) {
        Quantize(m, FileType::kInt8, {0.5f, 0, 1e-40f, 1}, {0, 0, 0, 0}, 1);
      },
      [](ModelFile& m) { Quantize(m, FileType::kInt8, {0}, {0}); },
      [](ModelFile& m) { Quantize(m, FileType::kInt16, {1e-40f}, {0}); },
      // The host limits ranks, and it ignores a signature of another rank.
      [](ModelFile& m) {
        TensorOf(m, 2).shape = TensorOf(m, 3).shape = {1, 1, 1, 1, 1, 1, 1, 1, 1};
      },
      [](ModelFile& m) { TensorOf(m, 0).signature = {-1}; },
      [](ModelFile& m) {
        MakeKind(m, 1, kLess, {2, 2});
        TensorOf(m, 2).shape = {1, 1, 1, 1, 1, 1, 1, 1, 2};
      },
      // Sequences that are long enough, or whose size the file leaves open.
      [](ModelFile& m) {
        MakeNumbers(m, kReverseSequence, {}, {0, 4});
        OperatorOf(m, 1).sequence_dimension = 1;
      },
      [](ModelFile& m) {
        MakeNumbers(m, kReverseSequence, {}, {5});
        TensorOf(m, 0).signature = {-1, 4};
      },
      // Diagonals that are long enough, or of matrices whose size is open.
      [](ModelFile& m) {
        MakeDiagonal(m, {1, 2, 3, 4, 5, 6});
      },
      [](ModelFile& m) {
        MakeDiagonal(m, {1, 2, 3});
        TensorOf(m, 2).signature = {-1, 3, 4};
      },
      [](ModelFile& m) { MakeInt8(m, kMatrixDiag, 1, 1), OperatorOf(m, 1).inputs = {2}; },
      [](ModelFile& m) { Quantize(m, FileType::kFloat32, {}, {}, 9); },
      [](ModelFile& m) { MakeBlockwise(m, {.scales = 1, .zero_points = -1, .block_size = 2}); },
      [](ModelFile& m) {
        MakeBlockwise(m, {.scales = 1, .zero_points = -1, .has_block_shape = true});
      },
      [](ModelFile& m) { MakeSparse(m); },
      // Inputs that a host does not need.
      [](ModelFile& m) {
        std::vector<int32_t> inputs(24, 2);
        for (const int i : {1, 5, 9, 10, 11, 12, 16, 17, 20, 21, 22, 23}) {
          inputs[static_cast<size_t>(i)] = -1;
        }
        MakeKind(m, 1, builtin::kUnidirectionalSequenceLstm, inputs);
      },
      [](ModelFile& m) {
        MakeKind(m, 1, builtin::kCustom, {2, -1});
      },
      // Values that are known before any operator runs: states, empty tensors, the shape of a
      // RESHAPE's input.
      [](ModelFile& m) {
        m.graphs[0].tensors.push_back({.name = "state", .shape = {4}, .is_variable = true});
        OperatorOf(m, 1).inputs = {2, 4};
      },
      [](ModelFile& m) {
        m.graphs[0].tensors.push_back({.name = "nothing", .shape = {0, 4}});
        OperatorOf(m, 1).inputs = {2, 4};
      },
      [](ModelFile& m) {
        m.graphs[0].tensors.push_back({.name = "shape", .shape = {1, 2}});
        MakeKind(m, 1, builtin::kReshape, {2, 4});
      },
      // Outputs of the graph that are inputs or constants.
      [](ModelFile& m) {
        m.graphs[0].outputs = {0, 1, 3};
      },
      // Scales that hosts can compute with, and scales that nothing computes with.
      [](ModelFile& m) { MakeInt8(m, kAdd, 1, 2e-6f); },
      [](ModelFile& m) { MakeInt8(m, kAdd, 1, 3.2e32f); },
      [](ModelFile& m) { MakeInt8(m, kAdd, 1, 1e34f, FileType::kInt16); },
      [](ModelFile& m) { MakeSeveralScales(m, kQuantize, 0), OperatorOf(m, 1).inputs = {2}; },
      [](ModelFile& m) { MakeInt8(m, kLess, 0.5f, 1); },
      [](ModelFile& m) { MakeInt8(m, kLess, 1.5f, 1); },
      [](ModelFile& m) { MakeInt8(m, kLess, 1e-40f, 1); },
      [](ModelFile& m) { MakeInt8(m, kMul, 0, 0); },
      [](ModelFile& m) {
        MakeInt8(m, kAdd, 1, 1, FileType::kInt16);
        TensorOf(m, 2).quantization.reset();
      },
      [](ModelFile& m) {
        MakeInt8(m, kSelect, 1, 1);
        OperatorOf(m, 1).inputs = {0, 2, 2};
      },
      [](ModelFile& m) {
        MakeCall(m, kIf, {0, 2});
      },
      [](ModelFile& m) {
        MakeCall(m, kIf, {0, 2});
        TensorOf(m, 2).shape = m.graphs[1].tensors[0].shape = {1, 1, 1, 1, 1, 1, 4};
      },
      [](ModelFile& m) {
        MakeCall(m, kIf, {0, 2});
        TensorOf(m, 2).shape = {4};
      },
      [](ModelFile& m) { MakeInt8(m, builtin::kDepthwiseConv2d, 1, 1, FileType::kInt16); },
      [](ModelFile& m) {
        MakeKind(m, 1, kRelu, {2});
        TensorOf(m, 2).shape = TensorOf(m, 3).shape = {1, 1, 1, 1, 1, 1, 4};
      },
      [](ModelFile& m) {
        m.graphs[0].tensors.push_back(
            {.name = "state", .type = FileType::kInt16, .shape = {1, 8}, .is_variable = true});
        MakeKind(m, 1, builtin::kSvdf, {2, 1, 1, -1, 4});
        TensorOf(m, 2).type = FileType::kInt8;
      },
      // States of this shape, of an unknown shape, and of another name.
      [](ModelFile& m) {
        MakeState(m, {1, 4});
      },
      [](ModelFile& m) { MakeState(m, {}); },
      [](ModelFile& m) {
        MakeState(m, {7, 4});
        m.graphs[0].tensors.back().signature = {-1, 4};
      },
      [](ModelFile& m) {
        MakeState(m, {7, 4});
        m.graphs[1].operators[0].state = "count";
      },
      [](ModelFile& m) {
        MakeKind(m, 1, kReadVariable, {2});
        TensorOf(m, 2).type = FileType::kResource;
        MakeKind(m, 0, builtin::kCustom, {0});
      },
      [](ModelFile& m) {
        MakeKind(m, 1, builtin::kReshape, {2});
        TensorOf(m, 2).type = TensorOf(m, 3).type = FileType::kString;
        MakeKind(m, 0, builtin::kCustom, {0});
      },
      // Several operators call one graph; no operator calls another one.
      [](ModelFile& m) {
        AddGraph(m, {});
        AddGraph(m, {1, 1});
        AddGraph(m, {1});
        OperatorOf(m, 0).graphs = {1};
        OperatorOf(m, 1).graphs = {2};
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    ModelFile model = LegalModel();
    changes[i](model);
    EXPECT_EQ(Refusal(model), "") << i;
  }
}

TEST(Clauses, LongNamesAreShortened) {
  ModelFile model = LegalModel();
  TensorOf(model, 3).name = std::string(79, 'x') + "\u00e9\u00e9";
  OperatorOf(model, 1).inputs = {2, 4};
  EXPECT_EQ(Refusal(model), "operator #1, to '" + std::string(79, 'x') +
                                "...': expected an input out of tensors of 4, got #4; " + kDamaged);
}

TEST(Clauses, NamesMayHoldAnyByte) {
  ModelFile model = LegalModel();
  TensorOf(model, 3).name = std::string("a\0b\n", 4);
  OperatorOf(model, 1).inputs = {2, 4};
  EXPECT_EQ(Refusal(model),
            "operator #1, to 'a\\x00b\\x0a': expected an input out of tensors of 4, got #4; " +
                std::string(kDamaged));
}

// Each model would take hours if messages were made before there is a fault, or if shared parts
// were read again for each user.
TEST(Clauses, WhatIsSharedTakesNoLonger) {
  constexpr int32_t kMany = 1 << 18;
  ModelFile model = LegalModel();
  TensorOf(model, 3).name = std::string(1 << 22, 'x');
  MakeKind(model, 1, builtin::kCustom, {2});
  OperatorOf(model, 1).outputs = {};
  model.graphs[0].operators.resize(kMany, OperatorOf(model, 1));
  OperatorOf(model, kMany - 1).outputs = {3};
  std::vector<uint32_t> words(kMany, 4 * (kMany + 1));
  words[0] = kMany - 2;
  MakeStrings(model, words);
  model.graphs[0].tensors.resize(kMany, model.graphs[0].tensors.back());
  EXPECT_EQ(Refusal(model), "");
}

TEST(Clauses, ManyOperatorsTakeNoLonger) {
  ModelFile model = LegalModel();
  FileGraph& graph = model.graphs[0];
  for (int32_t i = 3; i < 200000; ++i) {
    graph.tensors.push_back({.name = "t", .shape = {1, 4}});
    graph.operators.push_back({.code = 1, .inputs = {i, i}, .outputs = {i + 1}});
  }
  EXPECT_EQ(Refusal(model), "");
}

}  // namespace
}  // namespace larq_engine
