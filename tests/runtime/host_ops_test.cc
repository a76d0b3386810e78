// Tests the host's float operators that plans compute. The results are the same fused and one by
// one, with any number of threads; and damaged files do no harm.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

// Makes every operator, in groups whose tensors are read by the same group, by others and by the
// host.
Graph AllOperators(std::vector<int> shape) {
  const int channels = shape[3];
  ModelBuilder builder(kTfLiteFloat32, std::move(shape));
  const int input = builder.LastTensor();
  builder.AddQuantize().AddConv({.filters = channels});
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddBinary(builtin::kAdd, kTfLiteActNone);
  builder.AddPrelu().AddBinary(builtin::kAdd, kTfLiteActRelu6, input);
  const int shortcut = builder.LastTensor();
  builder.AddRelu(builtin::kRelu).AddQuantize().AddConv({.filters = channels});
  builder.AddBinary(builtin::kMul, kTfLiteActReluN1To1, shortcut);
  const int inner = builder.LastTensor();
  builder.AddConcatenation({shortcut, input}).AddRelu(builtin::kRelu6);
  builder.AddFloatPool({.filter_height = 3, .stride_width = 1});
  builder.AddRelu(builtin::kReluN1To1);
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddBinary(builtin::kAdd, kTfLiteActNone);
  builder.AddQuantize().AddConv({.filters = 7});
  Graph graph = builder.Build();
  graph.outputs.push_back(inner);
  return graph;
}

struct Ran {
  size_t claimed = 0;
  Outputs outputs;
};

Ran RunFresh(const Graph& graph, const DelegateOptions& options, std::vector<int> shape) {
  const DelegatePtr delegate = CreateDelegate(options);
  MiniHost host(graph);
  Ran ran;
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
  EXPECT_TRUE(RunOnce(&host, 5, 0xCD, &ran.outputs)) << host.errors();
  ran.claimed = host.claimed_operators();
  return ran;
}

TEST(HostOps, ResultsDoNotDependOnKernelAndThreads) {
  for (const std::vector<int>& shape : {std::vector<int>{1, 9, 8, 33},
                                        {3, 3, 2, 5},
                                        {2, 30, 21, 64},
                                        {1, 1, 1, 32},
                                        {0, 9, 8, 33}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    const Graph graph = AllOperators({1, shape[1], shape[2], shape[3]});
    const Ran expected = RunFresh(graph, {{"kernel", "reference"}, {"num_threads", "1"}}, shape);
    EXPECT_EQ(expected.claimed, graph.operators.size());
    for (const char* threads : {"1", "2", "5"}) {
      EXPECT_EQ(RunFresh(graph, {{"num_threads", threads}}, shape).outputs, expected.outputs)
          << threads;
    }
  }
}

#if UINTPTR_MAX == UINT32_MAX
// Bits of 30 MB become tensors of 1 GB. A thread keeps a tile of 32 MB of each tensor, because the
// sums at the end read all of them. That is more than 4 GB, which wraps to a size that memory can
// hold.
TEST(HostOps, MoreThanMemoryHoldsIsAnError) {
  ModelBuilder builder(kTfLiteInt32, {1, 15, 16, 1 << 20});
  builder.AddDequantize(kTfLiteFloat32);
  std::vector<int> summands;
  for (int i = 0; i < 130; ++i) {
    summands.push_back(builder.LastTensor());
    builder.AddRelu(builtin::kRelu);
  }
  for (int summand : summands) builder.AddBinary(builtin::kAdd, kTfLiteActNone, summand);
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(builder.Build(), SIZE_MAX);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.Allocate(), kTfLiteError);
  EXPECT_NE(host.errors().find("out of memory"), std::string::npos) << host.errors();
}
#endif

TEST(HostOps, WithoutFusingTheyAreTheHosts) {
  const DelegatePtr delegate = CreateDelegate({{"fuse", "off"}});
  const Graph graph = AllOperators({1, 9, 8, 33});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), 6u);  // three pairs of LceQuantize and LceBconv2d
}

TEST(HostOps, ResizeGivesWhatAFreshHostGives) {
  const Graph graph = AllOperators({1, 9, 8, 33});
  const DelegatePtr delegate = CreateDelegate({{"num_threads", "2"}});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  for (const std::vector<int>& shape : {std::vector<int>{3, 9, 8, 33},
                                        {1, 2, 3, 33},
                                        {1, 40, 30, 33},
                                        {0, 9, 8, 33},
                                        {1, 9, 8, 33}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
    EXPECT_EQ(outputs, RunFresh(graph, {{"num_threads", "1"}}, shape).outputs);
  }
}

// Makes input0 -> bits -> convolution, to which input1 is added. The convolution is an output, too.
Graph SumOfTwoInputs() {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 8});
  builder.AddQuantize().AddConv({.filters = 8}).AddBinary(builtin::kAdd, kTfLiteActRelu6, 0);
  Graph graph = builder.Build();
  GraphTensor second = graph.tensors[0];
  graph.tensors.push_back(second);
  graph.inputs.push_back(static_cast<int>(graph.tensors.size()) - 1);
  graph.operators.back().inputs[1] = graph.inputs[1];
  graph.outputs.push_back(graph.operators[1].outputs[0]);
  return graph;
}

std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// After a resize the operator is ours whatever the shapes are, because the host would have run it.
TEST(HostOps, UnlikeShapesAreBroadcast) {
  const std::vector<std::vector<int>> seconds = {{2, 4, 5, 8}, {1, 1, 1, 8}, {2, 1, 1, 8},
                                                 {2, 4, 5, 1}, {1, 4, 1, 1}, {1, 1, 1, 1},
                                                 {5, 8},       {8},          {2, 1, 5, 1}};
  for (const char* threads : {"1", "2"}) {
    const DelegatePtr delegate = CreateDelegate({{"num_threads", threads}});
    for (const std::vector<int>& second : seconds) {
      SCOPED_TRACE(::testing::PrintToString(second));
      MiniHost host(SumOfTwoInputs());
      ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
      EXPECT_EQ(host.claimed_operators(), 3u);
      ASSERT_EQ(host.ResizeInput(0, std::vector<int>{2, 4, 5, 8}), kTfLiteOk);
      ASSERT_EQ(host.ResizeInput(1, second), kTfLiteOk);
      Outputs outputs;
      ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
      const std::vector<float> sum = Floats(outputs[0]), conv = Floats(outputs[1]);
      const std::span<const uint8_t> bytes = host.InputBytes(1);
      const std::vector<float> other = Floats({bytes.begin(), bytes.end()});
      std::vector<int> sizes = second;
      sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
      ASSERT_EQ(sum.size(), 320u);
      for (size_t i = 0; i < sum.size(); ++i) {
        const int index[] = {static_cast<int>(i) / 160, static_cast<int>(i) / 40 % 4,
                             static_cast<int>(i) / 8 % 5, static_cast<int>(i) % 8};
        size_t at = 0;
        for (size_t d = 0; d < 4; ++d) {
          at = at * static_cast<size_t>(sizes[d]) +
               static_cast<size_t>(sizes[d] == 1 ? 0 : index[d]);
        }
        ASSERT_EQ(sum[i], std::min(std::max(conv[i] + other[at], 0.0f), 6.0f)) << i;
      }
    }
  }
}

TEST(HostOps, ShapesThatDoNotFitAreAnError) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(SumOfTwoInputs());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 6, 5, 8}), kTfLiteOk);
  EXPECT_EQ(host.Allocate(), kTfLiteError);
  EXPECT_NE(host.errors().find("ADD 'builtin2' (#2): inputs: expected shapes whose sizes are equal "
                               "or 1, got [1, 6, 5, 8] and [1, 5, 5, 8]; resize"),
            std::string::npos)
      << host.errors();
}

Graph BatchNormBeforeBits() {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 8});
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddBinary(builtin::kAdd, kTfLiteActNone);
  return builder.AddQuantize().Build();
}

// An operator that a quantization has absorbed still checks the shapes, and errors name it.
TEST(HostOps, AbsorbedOperatorsCheckTheirShapes) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(BatchNormBeforeBits());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  EXPECT_EQ(host.claimed_operators(), 3u);
  for (int channels : {9, 7}) {
    ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 5, 5, channels}), kTfLiteOk);
    EXPECT_EQ(host.Allocate(), kTfLiteError);
    EXPECT_NE(host.errors().find("MUL 'builtin0' (#0): inputs: expected shapes whose sizes are "
                                 "equal or 1, got [1, 5, 5, " +
                                 std::to_string(channels) + "] and [8]"),
              std::string::npos)
        << host.errors();
  }
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{5, 8}), kTfLiteOk);
  EXPECT_EQ(host.Allocate(), kTfLiteError);
  EXPECT_NE(host.errors().find("MUL 'builtin0' (#0): output: "), std::string::npos)
      << host.errors();
}

// A constant of eight channels turns one channel into eight, which a quantization cannot do in
// place of the product.
TEST(HostOps, AChannelThatBecomesSeveralIsComputedBeforeBits) {
  const Graph graph = BatchNormBeforeBits();
  const auto constant = [&](size_t op) {
    return Floats(graph.tensors[static_cast<size_t>(graph.operators[op].inputs[1])].data);
  };
  const std::vector<float> factors = constant(0), sums = constant(1);
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  for (int channels : {8, 1, 8}) {
    ASSERT_EQ(host.ResizeInput(0, std::vector<int>{2, 3, 4, channels}), kTfLiteOk);
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
    const std::span<const uint8_t> bytes = host.InputBytes(0);
    const std::vector<float> image = Floats({bytes.begin(), bytes.end()});
    for (size_t pixel = 0; pixel < 24; ++pixel) {
      uint32_t expected = 0, got;
      for (size_t c = 0; c < 8; ++c) {
        const float x = channels == 1 ? image[pixel] : image[pixel * 8 + c];
        const volatile float product = x * factors[c];
        expected |= uint32_t{product + sums[c] < 0} << c;
      }
      std::memcpy(&got, &outputs[0][pixel * 4], 4);
      ASSERT_EQ(got, expected) << pixel;
    }
  }
}

// A single value is used for every channel, however many there are.
TEST(HostOps, ASingleValueFitsAnyNumberOfChannels) {
  ModelBuilder builder(kTfLiteFloat32, {1, 5, 5, 1});
  builder.AddPrelu().AddBinary(builtin::kMul, kTfLiteActNone).AddQuantize();
  const Graph graph = builder.Build();
  const auto constant = [&](size_t op) {
    return Floats(graph.tensors[static_cast<size_t>(graph.operators[op].inputs[1])].data)[0];
  };
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  EXPECT_EQ(host.claimed_operators(), 3u);
  for (int channels : {1, 9, 3}) {
    ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 5, 5, channels}), kTfLiteOk);
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 5, 0xCD, &outputs)) << host.errors();
    const std::span<const uint8_t> bytes = host.InputBytes(0);
    const std::vector<float> image = Floats({bytes.begin(), bytes.end()});
    for (size_t i = 0; i < image.size(); ++i) {
      const float x = image[i] < 0 ? image[i] * constant(0) : image[i];
      const size_t pixel = i / static_cast<size_t>(channels), c = i % static_cast<size_t>(channels);
      uint32_t word;
      std::memcpy(&word, &outputs[0][pixel * 4], 4);
      ASSERT_EQ((word >> c & 1) != 0, x * constant(1) < 0) << i;
    }
  }
}

// Makes a graph whose last operator has this code, for a case to damage it.
Graph EndsIn(int code) {
  ModelBuilder builder(kTfLiteFloat32, {1, 6, 5, 8});
  builder.AddQuantize().AddConv({.filters = 8});
  switch (code) {
    case builtin::kMaxPool2d:
      return builder.AddFloatPool({}).Build();
    case builtin::kConcatenation:
      return builder.AddConcatenation({0}).Build();
    case builtin::kPrelu:
      return builder.AddPrelu().Build();
    case builtin::kRelu:
      return builder.AddRelu(code).Build();
    default:
      return builder.AddBinary(code, kTfLiteActNone).Build();
  }
}

struct Damage {
  const char* name;
  int code;
  void (*damage)(Graph* graph, GraphOperator* op);
};

template <typename Params>
void Change(GraphOperator* op, void (*change)(Params* params)) {
  Params params;
  std::memcpy(&params, op->builtin_data.data(), sizeof(params));
  change(&params);
  std::memcpy(op->builtin_data.data(), &params, sizeof(params));
}

void NoData(Graph*, GraphOperator* op) { op->builtin_data.clear(); }
void NoInputs(Graph*, GraphOperator* op) { op->inputs.clear(); }
void MissingInputs(Graph*, GraphOperator* op) {
  for (int& input : op->inputs) input = kTfLiteOptionalTensor;
}
void NoOutputs(Graph*, GraphOperator* op) { op->outputs.clear(); }
void ThirdInput(Graph*, GraphOperator* op) { op->inputs.insert(op->inputs.end(), 9, 0); }
void OtherOutputType(Graph* graph, GraphOperator* op) {
  graph->tensors[op->outputs[0]].type = kTfLiteFloat16;
}
void ScalarInput(Graph* graph, GraphOperator* op) { graph->tensors[op->inputs[0]].shape.clear(); }
void UnknownActivation(Graph*, GraphOperator* op) {
  Change<TfLiteAddParams>(op, [](auto* p) { p->activation = TfLiteFusedActivation{77}; });
}
void Tanh(Graph*, GraphOperator* op) {
  Change<TfLiteAddParams>(op, [](auto* p) { p->activation = TfLiteFusedActivation{4}; });
}
void ShortConstant(Graph* graph, GraphOperator* op) {
  graph->tensors[op->inputs[1]].data.resize(7);
}
void LongConstant(Graph* graph, GraphOperator* op) {
  graph->tensors[op->inputs[1]].shape = {1, 1, 1, 1 << 30};
}

const Damage kDamages[] = {
    {"AddWithoutData", builtin::kAdd, NoData},
    {"AddWithoutInputs", builtin::kAdd, NoInputs},
    {"AddWithoutOutputs", builtin::kAdd, NoOutputs},
    {"AddOfMore", builtin::kAdd, ThirdInput},
    {"AddToHalf", builtin::kAdd, OtherOutputType},
    {"AddOfScalar", builtin::kAdd, ScalarInput},
    {"AddWithUnknownActivation", builtin::kAdd, UnknownActivation},
    {"AddWithTanh", builtin::kAdd, Tanh},
    {"AddOfShortConstant", builtin::kAdd, ShortConstant},
    {"AddOfLongConstant", builtin::kAdd, LongConstant},
    {"MulWithoutData", builtin::kMul, NoData},
    {"MulWithUnknownActivation", builtin::kMul, UnknownActivation},
    {"ReluWithoutInputs", builtin::kRelu, NoInputs},
    {"ReluOfMore", builtin::kRelu, ThirdInput},
    {"PreluOfShortConstant", builtin::kPrelu, ShortConstant},
    {"PoolWithoutData", builtin::kMaxPool2d, NoData},
    {"PoolOfScalar", builtin::kMaxPool2d, ScalarInput},
    {"PoolWithoutHeight", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op, [](auto* p) { p->filter_height = 0; });
     }},
    {"PoolOfNegativeWidth", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op, [](auto* p) { p->filter_width = -3; });
     }},
    {"PoolWithoutStride", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op, [](auto* p) { p->stride_height = 0; });
     }},
    {"PoolOfNegativeStride", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op,
                                [](auto* p) { p->stride_width = std::numeric_limits<int>::min(); });
     }},
    {"PoolWithUnknownPadding", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op, [](auto* p) { p->padding = TfLitePadding{9}; });
     }},
    {"PoolWithUnknownActivation", builtin::kMaxPool2d,
     [](Graph*, GraphOperator* op) {
       Change<TfLitePoolParams>(op, [](auto* p) { p->activation = TfLiteFusedActivation{9}; });
     }},
    {"ConcatenationWithoutData", builtin::kConcatenation, NoData},
    {"ConcatenationOfOtherAxis", builtin::kConcatenation,
     [](Graph*, GraphOperator* op) {
       Change<TfLiteConcatenationParams>(op, [](auto* p) { p->axis = 1; });
     }},
    {"ConcatenationOfNoAxis", builtin::kConcatenation,
     [](Graph*, GraphOperator* op) {
       Change<TfLiteConcatenationParams>(
           op, [](auto* p) { p->axis = std::numeric_limits<int>::min(); });
     }},
    {"ConcatenationOfMany", builtin::kConcatenation, ThirdInput},
};

class Damaged : public ::testing::TestWithParam<Damage> {};

// The host judges the damaged operator, and ours still run.
TEST_P(Damaged, IsLeftToTheHost) {
  Graph graph = EndsIn(GetParam().code);
  const DelegatePtr delegate = CreateDelegate({});
  {
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    ASSERT_EQ(host.claimed_operators(), 3u) << "whole, it is claimed";
  }
  GetParam().damage(&graph, &graph.operators.back());
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), 2u);
}

// Hosts crash on absent inputs.
TEST(HostOps, AbsentInputsAreRefused) {
  const DelegatePtr delegate = CreateDelegate({});
  for (const int code : {builtin::kAdd, builtin::kPrelu, builtin::kConcatenation}) {
    Graph graph = EndsIn(code);
    MissingInputs(&graph, &graph.operators.back());
    MiniHost host(graph);
    EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteError);
    EXPECT_NE(host.errors().find("expected a tensor for input #0, got none"), std::string::npos)
        << host.errors();
  }
}

INSTANTIATE_TEST_SUITE_P(HostOps, Damaged, ::testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HostOps, ScalarsHaveNoChannelsToJoin) {
  ModelBuilder builder(kTfLiteFloat32, {1, 1});
  builder.AddConcatenation({0}).AddQuantize();
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(builder.Build());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{}), kTfLiteOk);
  EXPECT_NE(host.Allocate(), kTfLiteOk);
  EXPECT_NE(host.errors().find("expected at least 1 dimension"), std::string::npos)
      << host.errors();
}

// Pixels without channels take no memory and no time.
TEST(HostOps, ManyPixelsWithoutChannels) {
  ModelBuilder builder(kTfLiteFloat32, {1, 2, 2, 3});
  builder.AddConcatenation({0}).AddQuantize();
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(builder.Build());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 1 << 13, 1 << 13, 0}), kTfLiteOk);
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, 1, 0, &outputs)) << host.errors();
}

}  // namespace
}  // namespace larq_engine::testing
