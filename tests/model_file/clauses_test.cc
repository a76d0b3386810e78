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

using Change = std::function<void(ModelFile&)>;

Change All(std::vector<Change> changes) {
  return [=](ModelFile& m) {
    for (const Change& change : changes) change(m);
  };
}

Change Type(size_t tensor, ElementType type) {
  return [=](ModelFile& m) { TensorOf(m, tensor).type = type; };
}

Change Shape(size_t tensor, std::vector<int32_t> shape) {
  return [=](ModelFile& m) { TensorOf(m, tensor).shape = shape; };
}

Change Signature(size_t tensor, std::vector<int32_t> signature) {
  return [=](ModelFile& m) { TensorOf(m, tensor).signature = signature; };
}

Change Unquantized(size_t tensor) {
  return [=](ModelFile& m) { TensorOf(m, tensor).quantization.reset(); };
}

Change Added(FileTensor tensor) {
  return [=](ModelFile& m) { m.graphs[0].tensors.push_back(tensor); };
}

Change Inputs(size_t op, std::vector<int32_t> inputs) {
  return [=](ModelFile& m) { OperatorOf(m, op).inputs = inputs; };
}

Change Outputs(size_t op, std::vector<int32_t> outputs) {
  return [=](ModelFile& m) { OperatorOf(m, op).outputs = outputs; };
}

Change Graphs(size_t op, std::vector<int64_t> graphs) {
  return [=](ModelFile& m) { OperatorOf(m, op).graphs = graphs; };
}

Change Kind(size_t op, int kind, std::vector<int32_t> inputs) {
  return [=](ModelFile& m) {
    OperatorOf(m, op).code = static_cast<uint32_t>(m.operator_codes.size());
    OperatorOf(m, op).inputs = inputs;
    m.operator_codes.push_back({.kind = kind, .custom_name = kind == 32 ? "Mine" : ""});
  };
}

// Makes the second operator the custom one of the host, without its options.
Change PostProcess(std::vector<int32_t> inputs) {
  return [=](ModelFile& m) {
    Kind(1, builtin::kCustom, inputs)(m);
    m.operator_codes.back().custom_name = "TFLite_Detection_PostProcess";
  };
}

Change Quantized(ElementType type, std::vector<float> scales, std::vector<int64_t> zero_points,
                 int32_t dimension = 0) {
  return [=](ModelFile& m) {
    TensorOf(m, 0).type = type;
    TensorOf(m, 0).quantization = {
        .scales = scales, .zero_points = zero_points, .dimension = dimension};
  };
}

// Adds a tensor of strings, in a buffer of these words and some bytes of text after them.
Change Strings(std::vector<uint32_t> words) {
  static std::vector<std::vector<uint32_t>> kept;
  return [=](ModelFile& m) {
    kept.push_back(words);
    kept.back().push_back(0);
    const std::vector<uint32_t>& all = kept.back();
    m.buffers.push_back({reinterpret_cast<const uint8_t*>(all.data()), 4 * all.size()});
    Added({.name = "text",
           .type = ElementType::kString,
           .shape = {static_cast<int32_t>(words[0])},
           .buffer = static_cast<uint32_t>(m.buffers.size() - 1)})(m);
  };
}

// Makes the weights sparse: rows of 4 with blocks of 2, and two of the four blocks have values.
Change Sparse(const std::function<void(FileSparsity&)>& change = nullptr) {
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
  return [=](ModelFile& m) {
    TensorOf(m, 1).shape = {2, 4};
    TensorOf(m, 1).sparsity = sparsity;
  };
}

Change Blockwise(BlockwiseQuantization blocks) {
  return [=](ModelFile& m) {
    TensorOf(m, 1).quantization = FileQuantization();
    TensorOf(m, 1).quantization->blockwise = blocks;
  };
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

// Makes the second operator call the last of so many graphs, each of which calls the one before as
// often as told.
Change Nested(int graphs, size_t calls) {
  return [=](ModelFile& m) {
    int64_t last = AddGraph(m, {});
    for (int i = 0; i < graphs; ++i) last = AddGraph(m, std::vector<int64_t>(calls, last));
    OperatorOf(m, 1).graphs = {last};
  };
}

// Adds graph 1, which has an input and an output of floats; the second operator calls it with its
// output.
Change Call(int kind, std::vector<int32_t> inputs) {
  return [=](ModelFile& m) {
    m.graphs.push_back(
        {.tensors = {{.name = "in", .shape = {1, 4}}}, .inputs = {0}, .outputs = {0}});
    All({Kind(1, kind, inputs), Graphs(1, {1})})(m);
  };
}

// Makes the second operator read constants of these numbers, or x if there are none.
Change Numbers(int kind, std::vector<int32_t> first, std::vector<int32_t> second) {
  static std::deque<std::vector<int32_t>> kept;
  return [=](ModelFile& m) {
    Kind(1, kind, {})(m);
    for (const std::vector<int32_t>& numbers : {first, second}) {
      if (numbers.empty()) {
        OperatorOf(m, 1).inputs.push_back(0);
        continue;
      }
      kept.push_back(numbers);
      m.buffers.push_back(
          {reinterpret_cast<const uint8_t*>(kept.back().data()), numbers.size() * sizeof(int32_t)});
      OperatorOf(m, 1).inputs.push_back(static_cast<int32_t>(m.graphs[0].tensors.size()));
      Added({.name = "numbers",
             .type = ElementType::kInt32,
             .shape = {static_cast<int32_t>(numbers.size())},
             .buffer = static_cast<uint32_t>(m.buffers.size() - 1)})(m);
    }
  };
}

// Makes the second operator reverse so many values of sequences along dimension 1.
Change Reversed(std::vector<int32_t> lengths) {
  return [=](ModelFile& m) {
    Numbers(kReverseSequence, {}, lengths)(m);
    OperatorOf(m, 1).builtin = {.sequence_dimension = 1};
  };
}

// Adds a second graph that assigns [1, 4] to a state; the first graph reads the state with `shape`.
Change State(std::vector<int32_t> shape) {
  return [=](ModelFile& m) {
    m.operator_codes.push_back({.kind = builtin::kVarHandle});
    m.operator_codes.push_back({.kind = kReadVariable});
    m.operator_codes.push_back({.kind = kAssignVariable});
    const auto code = static_cast<uint32_t>(m.operator_codes.size() - 3);
    FileGraph& graph = m.graphs[0];
    const FileTensor handle = {.name = "handle", .type = ElementType::kResource, .shape = {1}};
    graph.tensors.push_back(handle);
    graph.tensors.push_back({.name = "old", .shape = shape});
    graph.operators.push_back(
        {.code = code, .outputs = {4}, .builtin = FileOptions{.state = "sum"}});
    graph.operators.push_back({.code = code + 1, .inputs = {4}, .outputs = {5}});
    m.graphs.push_back(
        {.tensors = {handle, {.name = "start", .shape = {1, 4}}},
         .inputs = {1},
         .operators = {{.code = code, .outputs = {0}, .builtin = FileOptions{.state = "sum"}},
                       {.code = code + 2, .inputs = {0, 1}}}});
  };
}

// Quantizes both inputs of the second operator and its output.
Change Int8(int kind, float input_scale, float output_scale,
            ElementType type = ElementType::kInt8) {
  return [=](ModelFile& m) {
    Kind(1, kind, {2, 2})(m);
    for (const size_t tensor : {2, 3}) {
      TensorOf(m, tensor).type = type;
      TensorOf(m, tensor).quantization = {.scales = {tensor == 2 ? input_scale : output_scale},
                                          .zero_points = {0}};
    }
  };
}

// Does the same, but the inputs have several scales.
Change SeveralScales(int kind, float scale) {
  return [=](ModelFile& m) {
    Int8(kind, 1, 1)(m);
    TensorOf(m, 2).quantization = {
        .scales = {scale, 1, 1, 1}, .zero_points = {0, 0, 0, 0}, .dimension = 1};
  };
}

// Makes the second operator set the diagonals of two matrices of 3 x 4 to constants.
Change Diagonal(std::vector<int32_t> diagonal) {
  return [=](ModelFile& m) {
    Numbers(kMatrixSetDiag, {}, diagonal)(m);
    OperatorOf(m, 1).inputs[0] = 2;
    for (const size_t tensor : {2, 3}) {
      All({Shape(tensor, {2, 3, 4}), Type(tensor, ElementType::kInt32)})(m);
    }
  };
}

constexpr char kMeasureAgain[] = "quantize with data of the range that the model is for";

struct Breach {
  Change change;
  const char* message;
  const char* remedy = kDamaged;
};

struct BreachesOf {
  const char* clause;
  std::vector<Breach> breaches;
};

const std::vector<BreachesOf>& Breaches() {
  static const std::vector<BreachesOf> breaches = {
      {"ThereIsAGraph", {{[](ModelFile& m) { m.graphs.clear(); }, "expected a graph, got none; "}}},
      {"ShapesHaveLegalSizes",
       {{Shape(2, {1, -4}), "expected sizes of at least 0, got [1, -4]; "},
        {Shape(2, {2147483647, 2147483647, 2}),
         "expected a shape of at most 2^60 bytes, got [2147483647, 2147483647, 2]; "}}},
      {"SignaturesOfShapesFit",
       {{Signature(0, {-2, 4}),
         "expected a shape signature of sizes, or -1 for open ones, got [-2, 4]; "}}},
      {"BuffersExist",
       {{[](ModelFile& m) { TensorOf(m, 2).buffer = 2; },
         "tensor 'dense' (#2): expected a buffer of 2, got #2; "}}},
      {"ConstantsFillTheirShapes",
       {{Shape(1, {1, 5}),
         "tensor 'weights' (#1): expected 20 bytes for the shape [1, 5], got 16; "},
        {Type(1, ElementType::kInt4), "expected 2 bytes for the shape [1, 4], got 16; "}}},
      {"StringsLieInTheirBuffers",
       {{Strings({2, 16, 15, 16}),
         "expected strings one after the other in 20 bytes, got one at byte 15; "},
        {Strings({1, 12, 17}), "got one at byte 17; "},
        {Strings({1, 0, 13}), "got one at byte 0; "},
        {Strings({9, 12, 13}),
         "tensor 'text' (#4): expected the places of its strings, got the end of its buffer; "}}},
      {"ScalesAreNumbers",
       {{Quantized(ElementType::kInt16, {-1}, {0}),
         "tensor 'x' (#0): expected scales of at least 0, got -1; "},
        {Quantized(ElementType::kInt4, {std::numeric_limits<float>::infinity()}, {0}),
         "expected scales of at least 0, got inf; "}}},
      {"ZeroPointsAreOfTheirType",
       {{Quantized(ElementType::kInt8, {1}, {128}),
         "expected zero points of -128 to 127, got 128; "},
        {Quantized(ElementType::kUint8, {1}, {-1}), "expected zero points of 0 to 255, got -1; "},
        {Quantized(ElementType::kInt16, {1}, {40000}),
         "expected zero points of -32768 to 32767, got 40000; "},
        {Quantized(ElementType::kInt32, {1}, {int64_t{1} << 40}),
         "expected zero points of -2147483648 to 2147483647, got 1099511627776; "}}},
      {"EachScaleHasAZeroPoint",
       {{Quantized(ElementType::kInt32, {1}, {}),
         "expected 1 zero points, one for each scale, got 0; "},
        {Quantized(ElementType::kInt8, {1, 1, 1, 1}, {0}, 1),
         "expected 4 zero points, one for each scale, got 1; "}}},
      {"ScalesAreOneOrOneForEachSlice",
       {{Quantized(ElementType::kInt8, {1}, {0}, 2),
         "expected scales along a dimension of [1, 4], got #2; "},
        {Quantized(ElementType::kFloat32, {1}, {0}, -1), "got #-1; "},
        {Quantized(ElementType::kInt8, {1, 1}, {0, 0}, 1), "expected one scale or 4, got 2; "},
        {All({Shape(0, {}), Quantized(ElementType::kInt8, {1, 1}, {0, 0})}),
         "expected one scale or 1, got 2; "}}},
      {"BlocksHaveScales",
       {{Blockwise({.scales = 4, .zero_points = -1, .block_size = 2}),
         "expected scales in a tensor of 4, got #4; "},
        {Blockwise({.scales = 0, .zero_points = -1, .block_size = 2}),
         "expected scales in a constant, got #0; "},
        {Blockwise({.scales = 1, .zero_points = 9, .block_size = 2}),
         "expected zero points in a tensor of 4, got #9; "},
        {Blockwise({.scales = 1, .zero_points = -1}), "expected blocks of at least 1, got 0; "}}},
      {"SparseIndicesLeadIntoTheTensor",
       {{Sparse([](FileSparsity& s) { s.dimensions[1].indices->at(0) = 2; }),
         "tensor 'weights' (#1): expected sparse indices below 2, got 2; "},
        {Sparse([](FileSparsity& s) { s.dimensions[1].segments->at(2) = 3; }),
         "expected 2 sparse segments of 2 indices, got [0, 1, 3]; "},
        {Sparse([](FileSparsity& s) { s.dimensions[1].segments->at(1) = 3; }), "got [0, 3, 2]; "},
        {Sparse([](FileSparsity& s) { s.dimensions[1].segments->push_back(2); }),
         "got [0, 1, 2, 2]; "},
        {Sparse([](FileSparsity& s) { s.dimensions[1].indices.reset(); }),
         "expected segments and indices of a sparse dimension, got none; "},
        {Sparse([](FileSparsity& s) { s.traversal_order.pop_back(); }),
         "expected sparse 3 dimensions, got 2 to walk, 3 described; "},
        {Sparse([](FileSparsity& s) { s.dimensions.pop_back(); }), "got 3 to walk, 2 described; "},
        {Sparse([](FileSparsity& s) {
           s.traversal_order = {0, 0, 1};
         }),
         "expected an order of all 3 dimensions, got [0, 0, 1]; "},
        {Sparse([](FileSparsity& s) { s.block_map = {2}; }),
         "expected blocks of dimensions in order, got [2]; "},
        {Sparse([](FileSparsity& s) { s.dimensions[2].dense_size = 0; }),
         "expected blocks that divide a dimension of 4, got one of 0; "},
        {Sparse([](FileSparsity& s) { s.dimensions[0].dense_size = 3; }),
         "expected a dense dimension of 2, got 3; "},
        {All({Sparse(), Type(1, ElementType::kInt8)}),
         "expected 4 bytes of sparse values, got 16; "},
        {Sparse([](FileSparsity& s) {
           s.dimensions[1].segments = {{0, 2, 2}};
         }),
         "expected sparse indices that rise, got 0 after 1; "},
        {[](ModelFile& m) {
           Sparse()(m);
           TensorOf(m, 1).buffer = 0;
         },
         "expected a sparse constant of numbers, got none; "}}},
      {"KindsExist",
       {{[](ModelFile& m) { OperatorOf(m, 1).code = 2; },
         "operator #1, to 'sum': expected a kind of 2, got #2; "},
        {[](ModelFile& m) { m.operator_codes[1].kind = -1; },
         "operator code #1: expected a kind of at least 0, got -1; "},
        {[](ModelFile& m) { m.operator_codes[1].kind = builtin::kCustom; },
         "operator code #1: expected the name of a custom operator, got none; "}}},
      {"OutputsArePresent",
       {{Outputs(1, {3, -1}),
         "operator #1, to 'sum': expected a tensor for each output, got one that is absent; "}}},
      {"TensorsExist",
       {{Inputs(1, {2, 4}), "expected an input out of tensors of 4, got #4; "},
        {Inputs(1, {2, -2}), "got #-2; "},
        {Outputs(1, {4}), "operator #1: expected an output out of tensors of 4, got #4; "},
        {[](ModelFile& m) { OperatorOf(m, 1).intermediates = {4}; },
         "expected an intermediate out of tensors of 4, got #4; "},
        {[](ModelFile& m) { m.graphs[0].inputs = {-1}; },
         "graph #0: expected an input out of tensors of 4, got #-1; "},
        {[](ModelFile& m) { m.graphs[0].outputs = {4}; },
         "graph #0: expected an output out of tensors of 4, got #4; "}}},
      {"OperatorsHaveTheirTensors",
       {{Kind(1, kRelu, {2, 2}), "operator #1, to 'sum': expected 1 inputs, got 2; "},
        {Inputs(0, {0}), "operator #0, to 'dense': expected 2 to 4 inputs, got 1; "},
        {Outputs(1, {}), "operator #1: expected 1 outputs, got 0; "},
        {Kind(1, kIf, {}), "expected at least 1 inputs, got 0; "}}},
      {"HostsCustomOperatorsHaveOptions",
       {{PostProcess({2}),
         "operator #1, to 'sum': expected options of TFLite_Detection_PostProcess, got none; "}}},
      {"DepthwiseConvolutionsHaveABias",
       {{Int8(builtin::kDepthwiseConv2d, 1, 1),
         "operator #1, to 'sum': expected a bias, as it is not of int16, got none; ",
         "hosts would crash: give zeros"},
        {Kind(1, builtin::kDepthwiseConv2d, {2, 2}),
         "expected a bias, as it is not of int16, got none; ", "hosts would crash: give zeros"}}},
      {"NumericOperatorsHaveNumbers",
       {{All({Kind(1, kReadVariable, {2}), Type(2, ElementType::kResource),
              Type(3, ElementType::kResource), Kind(0, builtin::kCustom, {0})}),
         "operator #1, to 'sum': expected tensors of numbers, got tensor 'sum' (#3) of resources; ",
         "hosts would crash: compute with these outside of the model"},
        {All({Kind(1, kAssignVariable, {2, 2}), Outputs(1, {}), Type(2, ElementType::kResource),
              Kind(0, builtin::kCustom, {0})}),
         "operator #1: expected tensors of numbers, got tensor 'dense' (#2) of resources; ",
         "hosts would crash: compute with these outside of the model"},
        {Type(3, ElementType::kString),
         "operator #1, to 'sum': expected tensors of numbers, got tensor 'sum' (#3) of strings; ",
         "hosts would crash: compute with these outside of the model"},
        {All({Kind(1, builtin::kReshape, {2}), Type(3, ElementType::kResource)}),
         "got tensor 'sum' (#3) of resources; ",
         "hosts would crash: compute with these outside of the model"}}},
      {"CopiesHaveTheTypeOfTheirInput",
       {{All({Kind(1, builtin::kReshape, {2}), Type(3, ElementType::kInt16)}),
         "operator #1, to 'sum': expected outputs of the type of tensor 'dense' (#2), got tensor "
         "'sum' (#3) of another; "},
        {All({Kind(1, kMatrixDiag, {2}), Type(3, ElementType::kInt8)}),
         "expected outputs of the type of tensor 'dense' (#2), got tensor 'sum' (#3) of another; "},
        {All({Kind(1, kSegmentSum, {2, 2}), Type(3, ElementType::kInt8)}),
         "expected outputs of the type of tensor 'dense' (#2), got tensor 'sum' (#3) of "
         "another; "}}},
      {"ScalesFitTheirOperators",
       {{All({Int8(kAdd, 1, 1), Unquantized(3)}),
         "operator #1, to 'sum': expected a scale of tensor 'sum' (#3) above 1.90735e-06, as those "
         "of its inputs are up to 1, got none; hosts would crash: ",
         kMeasureAgain},
        {Int8(kAdd, 1, 1e-6f),
         "as those of its inputs are up to 1, got 1e-06; hosts would crash: ", kMeasureAgain},
        {Int8(kSub, 1, 1.0f / (1 << 19)),
         "got 1.90735e-06; tflite_runtime 2.14 would crash: ", kMeasureAgain},
        {Int8(kAdd, 1, 1.0f / (1 << 14), ElementType::kInt16),
         "above 6.10352e-05, as those of its inputs are up to 1, got 6.10352e-05; ", kMeasureAgain},
        {Int8(kSquaredDifference, 1, 1.0f / (1 << 12)),
         "above 0.000244141, as those of its inputs are up to 1, got 0.000244141; ", kMeasureAgain},
        {Int8(kAdd, 0, 1), "expected a scale of tensor 'dense' (#2) above 0, got 0; ",
         kMeasureAgain},
        {Int8(kAdd, 1, 3.3e32f),
         "expected a scale of tensor 'sum' (#3) of at most 3.24519e+32, got 3.3e+32; ",
         kMeasureAgain},
        {Int8(kAdd, 1, 1.1e34f, ElementType::kInt16), "of at most 1.03846e+34, got 1.1e+34; ",
         kMeasureAgain},
        {SeveralScales(kAdd, 0.5f),
         "expected a scale of tensor 'dense' (#2) above 0, got 4 scales; ", kMeasureAgain},
        {SeveralScales(kLess, 0.5f), "above 0, and not 1, got 4 scales; ", kMeasureAgain},
        {Int8(kLess, 1, 1), "expected a scale of tensor 'dense' (#2) above 0, and not 1, got 1; ",
         kMeasureAgain},
        {All({Int8(kEqual, 0.5f, 1), Unquantized(2)}),
         "expected a scale of tensor 'dense' (#2) above 0, and not 1, got none; ", kMeasureAgain},
        {Int8(kEqual, 1, 1, ElementType::kInt16), "above 0, and not 1, got 1; ", kMeasureAgain},
        {All({Int8(kQuantize, 1, 0), Inputs(1, {2})}),
         "expected a scale of tensor 'sum' (#3) of at least 1.2e-38, got 0; XNNPACK of LiteRT 2.3 "
         "would crash: ",
         kMeasureAgain},
        {Int8(kBatchMatmul, 1e-40f, 1), "of at least 1.2e-38, got 9.99995e-41; ", kMeasureAgain}}},
      {"AbsentInputsAreOptional",
       {{Inputs(0, {0, -1, -1}),
         "operator #0, to 'dense': expected a tensor for input #1, got none; "},
        {Kind(1, kMul, {2, -1}),
         "operator #1, to 'sum': expected a tensor for input #1, got none; "},
        {Kind(1, kRelu, {-1}), "expected a tensor for input #0, got none; "},
        {Kind(1, builtin::kLstm, {2, -1, 2, 2, 2}), "expected a tensor for input #1, got none; "},
        {[](ModelFile& m) {
           PostProcess({-1})(m);
           OperatorOf(m, 1).options = m.buffers[1];
         },
         "expected a tensor for input #0, got none; "}}},
      {"BroadcastRanksAreSmall",
       {{All({Kind(1, kLess, {2, 0}), Shape(2, {1, 1, 1, 1, 1, 1, 1, 1, 2})}),
         "operator #1, to 'sum': expected equal shapes, or at most 8 dimensions, got 9 dimensions "
         "of [1, 1, 1, 1, 1, 1, 1, 1, ...] and [1, 4]; ",
         "hosts would crash: leave out dimensions of 1"},
        {[](ModelFile& m) {
           Kind(1, kLess, {2, 0})(m);
           TensorOf(m, 2).shape = TensorOf(m, 2).signature = {1, 1, 1, 1, 1, 1, 1, 1, 2};
           TensorOf(m, 2).signature[0] = -1;
         },
         "expected equal shapes, or at most 8 dimensions, got 9 dimensions of ",
         "hosts would crash: leave out dimensions of 1"}}},
      {"ArgumentsAreInRange",
       {{Numbers(kBroadcastArgs, {2, 3}, {3, 3}),
         "operator #1, to 'sum': expected shapes that can be made equal, got [2, 3] and [3, 3]; ",
         "hosts would crash: give shapes of which one can be repeated to the other"},
        {Numbers(kBroadcastArgs, std::vector<int32_t>(129, 1), {3, 3}),
         "expected a shape of at most 512 bytes, got 516; ",
         "hosts have tensors of 8 dimensions: give fewer"},
        {[](ModelFile& m) {
           Kind(1, builtin::kLocalResponseNormalization, {2})(m);
           OperatorOf(m, 1).builtin = {.radius = -1};
         },
         "expected a radius of 0 to 2^30, got -1; ", "hosts would crash: give one of channels"},
        {Numbers(kReverseSequence, {}, {1, -2}),
         "operator #1, to 'sum': expected lengths of at least 0, got -2; ",
         "hosts would crash: give how many to reverse"},
        {All({Reversed({4, 5}), Signature(0, {-1, 4})}),
         "expected lengths of at most 4, as its sequences are, got 5; ",
         "hosts would crash: give how many to reverse"},
        {[](ModelFile& m) {
           // Lengths of int64, in a buffer that is legal as int32.
           Reversed({1, 1})(m);
           FileTensor lengths = m.graphs[0].tensors.back();
           lengths.type = ElementType::kInt64;
           lengths.shape = {1};
           m.graphs[0].tensors.push_back(lengths);
           m.graphs[0].tensors.push_back({.name = "other", .shape = {1, 4}});
           m.graphs[0].operators.push_back(OperatorOf(m, 1));
           OperatorOf(m, 2).inputs[1] = 5;
           OperatorOf(m, 2).outputs = {6};
         },
         "expected lengths of at most 4, as its sequences are, got 4294967297; ",
         "hosts would crash: give how many to reverse"},
        {[](ModelFile& m) {
           Kind(1, builtin::kAveragePool2d, {2})(m);
           OperatorOf(m, 1).builtin = {.filter_height = -3, .filter_width = 2};
         },
         "operator #1, to 'sum': expected a filter of at least 0 pixels a side, got 2 x -3; ",
         "hosts would crash: give its width and height"}}},
      {"DiagonalsFitTheirMatrices",
       {{All({Kind(1, kMatrixDiag, {2}), Kind(0, builtin::kCustom, {0}),
              Type(2, ElementType::kBool), Type(3, ElementType::kBool)}),
         "operator #1, to 'sum': expected values of int8, uint8, int16 or at least 32 bits, got "
         "tensor 'dense' (#2) of another type; ",
         "hosts would crash: cast them before"},
        {All({Kind(1, kMatrixSetDiag, {2, 0}), Type(0, ElementType::kInt8)}),
         "operator #1, to 'sum': expected a diagonal of the type of tensor 'dense' (#2), got "
         "tensor 'x' (#0) of another; "},
        {Diagonal({1, 2, 3, 4, 5}), "expected 6 values for the diagonals of [2, 3, 4], got 5; ",
         "hosts would crash: give one for each row or column"}}},
      {"HighRanksAreKept",
       {{All({Kind(1, kRelu, {2}), Shape(2, {1, 1, 1, 1, 1, 1, 4})}),
         "operator #1, to 'sum': expected 7 dimensions of tensor 'sum' (#3), as of tensor 'dense' "
         "(#2), got 2; ",
         "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1"}}},
      {"StatesAreOfTheirLayersType",
       {{All({Added({.name = "state",
                     .type = ElementType::kInt4,
                     .shape = {1, 8},
                     .is_variable = true}),
              Kind(1, builtin::kSvdf, {2, 1, 1, -1, 4})}),
         "operator #1, to 'sum': expected a state of float32, as its input is, got tensor 'state' "
         "(#4) of another type; "}}},
      {"StatesKeepTheirShape",
       {{State({7, 4}),
         "graph #1, operator #1: expected the shape in which the state is read, [7, 4], got graph "
         "#1, tensor 'start' (#1) of [1, 4]; "}}},
      {"SplitsHaveAnOutputForEachPart",
       {{Kind(1, builtin::kSplit, {2, 2}),
         "operator #1, to 'sum': expected a SPLIT into its 1 outputs, got 0 parts; "},
        {[](ModelFile& m) {
           Kind(1, builtin::kSplit, {2, 2})(m);
           OperatorOf(m, 1).builtin = {.parts = -1};
         },
         "got -1 parts; "}}},
      {"NoConstantIsComputed",
       {{Outputs(1, {1}),
         "operator #1, to 'weights': expected outputs without data of their own, got the constant "
         "tensor 'weights' (#1); "}}},
      {"NoConstantIsAGraphInput",
       {{[](ModelFile& m) {
           m.graphs[0].inputs = {0, 1};
         },
         "graph #0: expected inputs without data of their own, got the constant tensor 'weights' ",
         "what is set would be written over the file's bytes: take it out of the inputs"}}},
      {"TensorsAreWrittenOnce",
       {{Outputs(1, {2}),
         "operator #1, to 'dense': expected outputs that nobody else writes, got tensor 'dense' "
         "(#2), an output of operator #0; "},
        {All({Kind(1, builtin::kCustom, {2}), Outputs(1, {3, 3})}),
         "got tensor 'sum' (#3), an output of operator #1; "},
        {Outputs(1, {0}), "got tensor 'x' (#0), an input of the graph; "}}},
      {"InputsAreKnownBefore",
       {{[](ModelFile& m) { std::swap(OperatorOf(m, 0), OperatorOf(m, 1)); },
         "operator #0, to 'sum': expected inputs that are known before it runs, got tensor 'dense' "
         "(#2), an output of operator #1; "},
        {Inputs(1, {3, 3}), "got tensor 'sum' (#3), an output of operator #1; "},
        {[](ModelFile& m) { m.graphs[0].operators.erase(m.graphs[0].operators.begin()); },
         "got tensor 'dense' (#2), which nobody writes; "},
        {All({Added({.name = "text",
                     .type = ElementType::kString,
                     .shape = {2},
                     .is_external = true}),
              Kind(1, builtin::kCustom, {4})}),
         "got tensor 'text' (#4), which nobody writes; "},
        {[](ModelFile& m) { m.graphs[0].operators.pop_back(); },
         "graph #0: expected outputs that are computed, got tensor 'sum' (#3), which nobody "
         "writes"},
        {All({Added({.name = "shape", .shape = {2}}), Kind(1, builtin::kReshape, {2, 4})}),
         "got tensor 'shape' (#4), which nobody writes; "}}},
      {"GraphsDoNotCallThemselves",
       {{Graphs(1, {1}), "operator #1, to 'sum': expected a graph to call out of 1, got #1; "},
        {Graphs(1, {-1}), "got #-1; "},
        {Graphs(1, {0}),
         "graph #0: expected graphs that do not call themselves, got a cycle of calls; "},
        {[](ModelFile& m) {
           OperatorOf(m, 1).graphs = {2};
           AddGraph(m, {2});
           AddGraph(m, {1});
         },
         "graph #1: expected graphs that do not call themselves, got a cycle of calls; "},
        {Nested(64, 1),
         "expected at most 64 graphs within each other and 65536 ways to a graph, got more; ",
         "hosts would run out of stack or time: nest fewer calls"},
        {Nested(17, 2), "ways to a graph, got more; ",
         "hosts would run out of stack or time: nest fewer calls"}}},
      {"CalledGraphsFit",
       {{Call(kIf, {2}), "operator #1, to 'sum': expected 0 inputs of graph #1, got 1; "},
        {[](ModelFile& m) {
           Call(kIf, {2, 2})(m);
           m.graphs[1].tensors[0].type = ElementType::kInt8;
         },
         "expected inputs of graph #1 of the same types as its own, such as tensor 'dense' (#2), "
         "got graph #1, tensor 'in' (#0); "},
        {All({Call(kIf, {0, 2}), Shape(2, {1, 1, 1, 1, 1, 1, 4})}),
         "operator #1, to 'sum': expected at most 6 dimensions, or as many as graph #1, tensor "
         "'in' (#0), got 7; ",
         "XNNPACK of LiteRT 2.3 would crash: leave out dimensions of 1"},
        {Call(kWhile, {2}), "expected a graph #1 with one output of a bool, got another; "}}},
      {"MetadataExist",
       {{[](ModelFile& m) { m.metadata = {{.text = "notes", .index = 2}}; },
         "metadata: expected a buffer of 2, got #2; "},
        {[](ModelFile& m) { m.metadata = {{.index = 1}}; },
         "metadata: expected a name, got none; "}}},
      {"SignaturesNameTensors",
       {{[](ModelFile& m) { m.signatures = {{.graph = 0}}; },
         "signature #0: expected a key, got none; "},
        {[](ModelFile& m) { m.signatures = {{.key = "serve", .graph = 1}}; },
         "signature #0: expected a graph out of 1, got #1; "},
        {[](ModelFile& m) {
           m.signatures = {{.key = "serve", .outputs = {{.text = "y", .index = 4}}}};
         },
         "signature #0: expected a name of one out of tensors of 4, got #4; "},
        {[](ModelFile& m) { m.signatures = {{.key = "serve", .inputs = {{.index = 0}}}}; },
         "signature #0: expected a name for each tensor, got none; "}}},
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
  const BreachesOf& of = Breaches()[GetParam()];
  for (const Breach& breach : of.breaches) {
    SCOPED_TRACE(breach.message);
    ModelFile model = LegalModel();
    breach.change(model);
    auto clause = Clauses().begin();
    for (; clause != Clauses().end() && std::string(clause->name) != of.clause; ++clause) {
      EXPECT_EQ(RefusalBy(*clause, model), "") << clause->name;
    }
    ASSERT_NE(clause, Clauses().end()) << "no clause of this name";
    const std::string refusal = RefusalBy(*clause, model);
    EXPECT_NE(refusal.find(breach.message), std::string::npos) << refusal;
    EXPECT_TRUE(refusal.ends_with(breach.remedy)) << refusal;
  }
}

INSTANTIATE_TEST_SUITE_P(Clause, Breached, ::testing::Range<size_t>(0, Breaches().size()),
                         [](const auto& info) {
                           return std::string(Breaches()[info.param].clause);
                         });

TEST(Clauses, EachHasABreach) {
  std::set<std::string> breached;
  for (const BreachesOf& of : Breaches()) breached.insert(of.clause);
  std::set<std::string> names;
  for (const Clause& clause : Clauses()) names.insert(clause.name);
  EXPECT_EQ(breached, names);
}

TEST(Clauses, WhatIsLegalPasses) {
  const std::vector<Change> changes = {
      [](ModelFile&) {},
      // Open sizes, sizes of 0, no rank, and a type whose size is not fixed or not known.
      Signature(0, {-1, 4}),
      Shape(2, {0, 2147483647}),
      Shape(2, {}),
      All({Kind(0, builtin::kCustom, {0, 1}), Type(1, ElementType::kVariant)}),
      Type(2, static_cast<ElementType>(99)),
      Strings({1, 12, 16}),
      // Quantization that hosts accept; tensors that no kernel reads may have any scale.
      Quantized(ElementType::kInt8, {0.5f}, {-128}, 1),
      Quantized(ElementType::kInt8, {1, 1, 1, 1}, {0, 0, 0, 0}, 1),
      Quantized(ElementType::kInt32, {0}, {0}),
      // Scales that converters write for channels that do nothing, and for values that are always
      // 0.
      Quantized(ElementType::kInt8, {0.5f, 0, 1e-40f, 1}, {0, 0, 0, 0}, 1),
      Quantized(ElementType::kInt8, {0}, {0}),
      Quantized(ElementType::kInt16, {1e-40f}, {0}),
      // The host limits ranks, and it ignores a signature of another rank.
      All({Shape(2, {1, 1, 1, 1, 1, 1, 1, 1, 1}), Shape(3, {1, 1, 1, 1, 1, 1, 1, 1, 1})}),
      Signature(0, {-1}),
      All({Kind(1, kLess, {2, 2}), Shape(2, {1, 1, 1, 1, 1, 1, 1, 1, 2})}),
      // Sequences that are long enough, or whose size the file leaves open.
      Reversed({0, 4}),
      All({Numbers(kReverseSequence, {}, {5}), Signature(0, {-1, 4})}),
      // Diagonals that are long enough, or of matrices whose size is open.
      Diagonal({1, 2, 3, 4, 5, 6}),
      All({Diagonal({1, 2, 3}), Signature(2, {-1, 3, 4})}),
      All({Int8(kMatrixDiag, 1, 1), Inputs(1, {2})}),
      Quantized(ElementType::kFloat32, {}, {}, 9),
      Blockwise({.scales = 1, .zero_points = -1, .block_size = 2}),
      Blockwise({.scales = 1, .zero_points = -1, .has_block_shape = true}),
      Sparse(),
      // Inputs that a host does not need.
      [](ModelFile& m) {
        std::vector<int32_t> inputs(24, 2);
        for (const int i : {1, 5, 9, 10, 11, 12, 16, 17, 20, 21, 22, 23}) {
          inputs[static_cast<size_t>(i)] = -1;
        }
        Kind(1, builtin::kUnidirectionalSequenceLstm, inputs)(m);
      },
      Kind(1, builtin::kCustom, {2, -1}),
      // Values that are known before any operator runs: states, empty tensors, the shape of a
      // RESHAPE's input.
      All({Added({.name = "state", .shape = {4}, .is_variable = true}), Inputs(1, {2, 4})}),
      All({Added({.name = "nothing", .shape = {0, 4}}), Inputs(1, {2, 4})}),
      All({Added({.name = "shape", .shape = {1, 2}}), Kind(1, builtin::kReshape, {2, 4})}),
      // Outputs of the graph that are inputs or constants.
      [](ModelFile& m) {
        m.graphs[0].outputs = {0, 1, 3};
      },
      // Scales that hosts can compute with, and scales that nothing computes with.
      Int8(kAdd, 1, 2e-6f),
      Int8(kAdd, 1, 3.2e32f),
      Int8(kAdd, 1, 1e34f, ElementType::kInt16),
      All({SeveralScales(kQuantize, 0), Inputs(1, {2})}),
      Int8(kLess, 0.5f, 1),
      Int8(kLess, 1.5f, 1),
      Int8(kLess, 1e-40f, 1),
      Int8(kMul, 0, 0),
      All({Int8(kAdd, 1, 1, ElementType::kInt16), Unquantized(2)}),
      All({Int8(kSelect, 1, 1), Inputs(1, {0, 2, 2})}),
      Call(kIf, {0, 2}),
      [](ModelFile& m) {
        Call(kIf, {0, 2})(m);
        TensorOf(m, 2).shape = m.graphs[1].tensors[0].shape = {1, 1, 1, 1, 1, 1, 4};
      },
      All({Call(kIf, {0, 2}), Shape(2, {4})}),
      Int8(builtin::kDepthwiseConv2d, 1, 1, ElementType::kInt16),
      All({Kind(1, kRelu, {2}), Shape(2, {1, 1, 1, 1, 1, 1, 4}), Shape(3, {1, 1, 1, 1, 1, 1, 4})}),
      All({Added({.name = "state",
                  .type = ElementType::kInt16,
                  .shape = {1, 8},
                  .is_variable = true}),
           Kind(1, builtin::kSvdf, {2, 1, 1, -1, 4}), Type(2, ElementType::kInt8)}),
      // States of this shape, of an unknown shape, and of another name.
      State({1, 4}),
      State({}),
      [](ModelFile& m) {
        State({7, 4})(m);
        m.graphs[0].tensors.back().signature = {-1, 4};
      },
      [](ModelFile& m) {
        State({7, 4})(m);
        m.graphs[1].operators[0].builtin = {.state = "count"};
      },
      All({Kind(1, kReadVariable, {2}), Type(2, ElementType::kResource),
           Kind(0, builtin::kCustom, {0})}),
      All({Kind(1, builtin::kReshape, {2}), Type(2, ElementType::kString),
           Type(3, ElementType::kString), Kind(0, builtin::kCustom, {0})}),
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
  Kind(1, builtin::kCustom, {2})(model);
  OperatorOf(model, 1).outputs = {};
  model.graphs[0].operators.resize(kMany, OperatorOf(model, 1));
  OperatorOf(model, kMany - 1).outputs = {3};
  std::vector<uint32_t> words(kMany, 4 * (kMany + 1));
  words[0] = kMany - 2;
  Strings(words)(model);
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
