// Tests random networks of concatenations and of residual sums. Taken apart and fused, with any
// number of threads, they give the results of their operators one after the other.
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/host/delegate.h"
#include "larq_engine/runtime/profile.h"
#include "tests/common/seed.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

// Makes a delegate whose plans have all operators that can be claimed, whether their steps are
// fused or not.
DelegatePtr Make(int threads, bool fuse, const char* kernel = "auto") {
  EngineOptions options;
  options.kernel = kernel;
  options.num_threads = threads;
  EngineOptions of_cpu = options;
  of_cpu.fuse = fuse;
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<CpuExecutor>(of_cpu));
  const std::function<void(Program&)> split_nothing;
  return DelegatePtr(MakeDelegate(
      std::make_shared<Engine>(options, std::move(executors), Placement{}, split_nothing),
      options));
}

// Runs a graph, all of whose operators the delegate must claim.
void RunClaimed(MiniHost& host, const DelegatePtr& delegate, size_t operators, Outputs* outputs) {
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(host.claimed_operators(), operators);
  ASSERT_TRUE(RunOnce(&host, 7, 0xCD, outputs)) << host.errors();
}

Graph DenseBlock(Random& random) {
  // Most numbers of channels are whole words, which are quantized in parts.
  const auto channels = [&] {
    return static_cast<int>(random.Int(0, 5) > 0 ? 32 * random.Int(1, 4) : random.Int(1, 70));
  };
  const int first = channels();
  ModelBuilder builder(kTfLiteFloat32,
                       {static_cast<int>(random.Int(1, 2)), static_cast<int>(random.Int(2, 12)),
                        static_cast<int>(random.Int(2, 12)), first},
                       random.Word());
  std::vector<int> made = {builder.LastTensor()};
  const auto any = [&] {
    return made[static_cast<size_t>(random.Int(0, static_cast<int64_t>(made.size()) - 1))];
  };
  if (random.Int(0, 1) == 0) builder.AddFloatPool({.stride_height = 1, .stride_width = 1});
  for (int64_t layers = random.Int(1, 6); layers > 0; --layers) {
    made.push_back(builder.LastTensor());
    if (random.Int(0, 1) == 0) builder.AddBinary(builtin::kMul, kTfLiteActNone);
    if (random.Int(0, 1) == 0) builder.AddBinary(builtin::kAdd, kTfLiteActNone);
    builder.AddQuantize().AddConv({.filters = channels()});
    if (random.Int(0, 3) == 0) builder.AddPrelu();
    made.push_back(builder.LastTensor());
    for (int64_t more = random.Int(1, 2); more > 0; --more) builder.AddConcatenation({any()});
  }
  // These operators end a block.
  if (random.Int(0, 1) == 0) builder.AddBinary(builtin::kMul, kTfLiteActRelu6);
  if (random.Int(0, 1) == 0) builder.AddPrelu();
  if (random.Int(0, 1) == 0) {
    if (random.Int(0, 1) == 0) builder.AddBinary(builtin::kMul, kTfLiteActNone);
    builder.AddFloatPool({.activation = random.Int(0, 1) == 0 ? kTfLiteActNone : kTfLiteActRelu});
  }
  if (random.Int(0, 1) == 0) builder.AddRelu(builtin::kRelu);
  if (random.Int(0, 1) == 0) builder.AddQuantize();
  Graph graph = builder.Build();
  for (int64_t outputs = random.Int(0, 2); outputs > 0; --outputs) {
    const int tensor = any();
    if (tensor != graph.inputs[0] && tensor != graph.outputs[0]) graph.outputs.push_back(tensor);
  }
  return graph;
}

// The number of networks is smaller where programs are much slower: emulated, or under sanitizers.
const int kRounds = Share() >= 20 ? 40 : 200;

TEST(DenseBlocks, FusedInPartsTheyGiveTheSame) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  int poolings_of_products = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = DenseBlock(random);
    Outputs expected;
    for (const auto& [threads, fuse] : {std::pair{1, false}, {1, true}, {3, true}}) {
      const DelegatePtr delegate = Make(threads, fuse);
      MiniHost host(graph);
      larq_engine_profile_start(delegate.get());
      Outputs outputs;
      ASSERT_NO_FATAL_FAILURE(RunClaimed(host, delegate, graph.operators.size(), &outputs));
      if (!fuse) expected = outputs;
      ASSERT_EQ(outputs, expected) << threads << " threads";
      for (const StepProfile& row : StopProfile(delegate.get())) {
        poolings_of_products += row.op == "MAX_POOL_2D" && !row.absorbed.empty();
      }
    }
  }
  EXPECT_GT(poolings_of_products, kRounds / 20);
}

// A constant of 32 channels turns an image's single channel into 32, which a pooling must not
// compute.
TEST(DenseBlocks, ProductsMakeChannels) {
  ModelBuilder builder(kTfLiteFloat32, {1, 8, 8, 32});
  builder.AddBinary(builtin::kMul, kTfLiteActNone).AddFloatPool({});
  builder.AddQuantize().AddConv({.filters = 32});
  const Graph graph = builder.Build();
  Outputs expected;
  for (const bool fuse : {false, true}) {
    const DelegatePtr delegate = Make(1, fuse);
    MiniHost host(graph);
    ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
    ASSERT_EQ(host.ResizeInput(0, std::vector<int>{1, 8, 8, 1}), kTfLiteOk) << host.errors();
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 7, 0xCD, &outputs)) << host.errors();
    if (!fuse) expected = outputs;
    ASSERT_EQ(outputs, expected);
  }
}

// Resizes to fewer pixels, more and none, which give other steps, and to more images and fewer.
void ExpectResizedTheSame(const Graph& graph) {
  const DelegatePtr fused = Make(2, true), apart = Make(2, false);
  MiniHost host(graph), other(graph);
  ASSERT_EQ(host.ApplyDelegate(fused.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(other.ApplyDelegate(apart.get()), kTfLiteOk) << other.errors();
  const auto shape_of = [&](size_t input) {
    return graph.tensors[static_cast<size_t>(graph.inputs[input])].shape;
  };
  const int images = shape_of(0)[0];
  for (const auto& [side, batch] :
       {std::pair{1, 1}, {7, 3}, {7, 1}, {3, 2}, {0, 2}, {4, 1}, {4, 4}}) {
    for (size_t input = 0; input < graph.inputs.size(); ++input) {
      std::vector<int> shape = shape_of(input);
      if (input == 0) shape[1] = side;
      if (input == 0 || (shape[0] == images && images > 1)) shape[0] = batch;
      ASSERT_EQ(host.ResizeInput(input, shape), kTfLiteOk) << host.errors();
      ASSERT_EQ(other.ResizeInput(input, shape), kTfLiteOk) << other.errors();
    }
    Outputs outputs, expected;
    ASSERT_TRUE(RunOnce(&host, 7, 0xCD, &outputs)) << host.errors();
    ASSERT_TRUE(RunOnce(&other, 7, 0xCD, &expected)) << other.errors();
    ASSERT_EQ(outputs, expected) << batch << " images, " << side;
  }
}

TEST(DenseBlocks, ResizedTheyGiveTheSame) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(ExpectResizedTheSame(DenseBlock(random)));
  }
}

// Makes sums of two convolutions, of a value with itself, with activations, of values that others
// read, and behind gates with a value for each channel or for all.
Graph ResidualNetwork(Random& random) {
  const int images = static_cast<int>(random.Int(1, 3));
  const int channels = static_cast<int>(random.Int(1, 100));
  ModelBuilder builder(
      kTfLiteFloat32,
      {images, static_cast<int>(random.Int(1, 12)), static_cast<int>(random.Int(1, 12)), channels},
      random.Word());
  const auto gate = [&] {
    builder.AddBinary(builtin::kMul, random.Int(0, 7) == 0 ? kTfLiteActRelu : kTfLiteActNone,
                      builder.AddInput({random.Int(0, 3) == 0 ? 1 : images, 1, 1,
                                        random.Int(0, 3) == 0 ? 1 : channels}));
  };
  std::vector<int> made = {builder.LastTensor()};
  const auto any = [&] {
    return made[static_cast<size_t>(random.Int(0, static_cast<int64_t>(made.size()) - 1))];
  };
  const auto add = [&](int other) {
    const auto activation = static_cast<TfLiteFusedActivation>(random.Int(0, 3));
    builder.AddBinary(random.Int(0, 7) == 0 ? builtin::kMul : builtin::kAdd,
                      random.Int(0, 3) == 0 ? activation : kTfLiteActNone, other);
    made.push_back(builder.LastTensor());
  };
  for (int64_t layers = random.Int(1, 6); layers > 0; --layers) {
    const int shortcut = any();
    builder.AddQuantize().AddConv({.filters = channels});
    const int conv = builder.LastTensor();
    if (random.Int(0, 2) == 0) gate();
    if (random.Int(0, 2) == 0) builder.AddPrelu();
    if (random.Int(0, 7) == 0) gate();
    if (random.Int(0, 3) == 0) made.push_back(builder.LastTensor());
    if (random.Int(0, 3) == 0) {  // two convolutions and a sum of both
      builder.AddQuantize().AddConv({.filters = channels, .filter_height = 1, .filter_width = 1});
      add(conv);
    }
    add(random.Int(0, 7) == 0 ? builder.LastTensor() : shortcut);
  }
  Graph graph = builder.Build();
  for (int64_t outputs = random.Int(0, 1); outputs > 0; --outputs) {
    const int tensor = any();
    if (tensor != graph.inputs[0] && tensor != graph.outputs[0]) graph.outputs.push_back(tensor);
  }
  return graph;
}

TEST(ResidualSums, ComputedByTheirConvolutionsTheyAreTheSame) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  std::vector<int> absorbed(4);  // number of convolutions, by the operators that they absorbed
  int clamped = 0;               // sums with an activation and without a gate
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const Graph graph = ResidualNetwork(random);
    Outputs expected;
    for (const auto& [threads, fuse, kernel] : {std::tuple{1, false, "auto"},
                                                {1, true, "auto"},
                                                {3, true, "auto"},
                                                {1, true, "reference"}}) {
      const DelegatePtr delegate = Make(threads, fuse, kernel);
      MiniHost host(graph);
      larq_engine_profile_start(delegate.get());
      Outputs outputs;
      ASSERT_NO_FATAL_FAILURE(RunClaimed(host, delegate, graph.operators.size(), &outputs));
      if (!fuse) expected = outputs;
      ASSERT_EQ(outputs, expected) << threads << " threads, " << kernel;
      for (const StepProfile& row : StopProfile(delegate.get())) {
        if (row.op != "LceBconv2d") continue;
        ++absorbed.at(row.absorbed.size());
        if (row.absorbed.size() != 1) continue;
        const auto& sum = graph.operators[static_cast<size_t>(row.absorbed[0])].builtin_data;
        clamped += sum[offsetof(TfLiteAddParams, activation)] != kTfLiteActNone;
      }
    }
  }
  for (size_t operators = 1; operators < absorbed.size(); ++operators) {
    EXPECT_GT(absorbed[operators], kRounds / 20) << operators << " operators";
  }
  EXPECT_GT(clamped, kRounds / 20);
}

TEST(ResidualSums, ResizedTheyGiveTheSame) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    ASSERT_NO_FATAL_FAILURE(ExpectResizedTheSame(ResidualNetwork(random)));
  }
}

// With a gate of more dimensions than the convolution's output, the product has as many as the
// gate.
TEST(ResidualSums, GatesHaveNoMoreDimensionsThanImages) {
  ModelBuilder builder(kTfLiteFloat32, {2, 4, 6, 32});
  const int gate = builder.AddInput({1, 1, 1, 1, 32}),
            shortcut = builder.AddInput({1, 2, 4, 6, 32});
  builder.AddQuantize().AddConv({.filters = 32});
  builder.AddBinary(builtin::kMul, kTfLiteActNone, gate);
  builder.AddBinary(builtin::kAdd, kTfLiteActNone, shortcut);
  Graph graph = builder.Build();
  for (const GraphOperator& op : {graph.operators[2], graph.operators[3]}) {
    graph.tensors[static_cast<size_t>(op.outputs[0])].shape = {1, 2, 4, 6, 32};
  }
  Outputs expected;
  for (const bool fuse : {false, true}) {
    const DelegatePtr delegate = Make(1, fuse);
    MiniHost host(graph);
    Outputs outputs;
    ASSERT_NO_FATAL_FAILURE(RunClaimed(host, delegate, graph.operators.size(), &outputs));
    if (!fuse) expected = outputs;
    ASSERT_EQ(outputs, expected);
  }
}

// The batch is so large that its samples go through all steps one after another.
TEST(ResidualSums, OfALargeBatchTheyAreTheSame) {
  ModelBuilder builder(kTfLiteFloat32, {4, 48, 48, 64});
  for (int layer = 0; layer < 3; ++layer) {
    const int shortcut = builder.LastTensor();
    builder.AddQuantize().AddConv({.filters = 64});
    if (layer == 1) {
      builder.AddBinary(builtin::kMul, kTfLiteActNone, builder.AddInput({4, 1, 1, 64}));
    }
    builder.AddBinary(builtin::kAdd, kTfLiteActNone, shortcut);
  }
  const Graph graph = builder.Build();
  Outputs expected;
  for (const bool fuse : {false, true}) {
    const DelegatePtr delegate = Make(2, fuse);
    MiniHost host(graph);
    Outputs outputs;
    ASSERT_NO_FATAL_FAILURE(RunClaimed(host, delegate, graph.operators.size(), &outputs));
    if (!fuse) expected = outputs;
    ASSERT_EQ(outputs, expected);
  }
}

// Profiles have a row for each operator, even for those without a step of their own.
TEST(DenseBlocks, ProfilesHaveARowForEachOperator) {
  ModelBuilder builder(kTfLiteFloat32, {1, 8, 8, 32});
  builder.AddQuantize().AddConv({.filters = 32}).AddConcatenation({0});
  builder.AddBinary(builtin::kAdd, kTfLiteActNone).AddQuantize().AddConv({.filters = 32});
  const Graph graph = builder.Build();
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  Outputs outputs;
  larq_engine_profile_start(delegate.get());
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(RunOnce(&host, 7, 0xCD, &outputs));
  const std::vector<StepProfile> rows = StopProfile(delegate.get());
  ASSERT_EQ(rows.size() + 1, graph.operators.size());  // the sum became the quantization's limits
  for (const StepProfile& row : rows) {
    EXPECT_EQ(row.calls, 3u) << row.op;
    if (row.op != "CONCATENATION") continue;
    EXPECT_EQ(row.total_ns, 0u);
  }
}

}  // namespace
}  // namespace larq_engine::testing
