// Plans graphs that are so large that more than linear time would take minutes. The test is that
// planning ends.
#include <gtest/gtest.h>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

constexpr int kMany = 30000;

// Plans and runs the graph, all of whose operators must be claimed.
void MustRun(const ModelBuilder& builder, const DelegateOptions& options = {}) {
  const DelegatePtr delegate = CreateDelegate(options);
  const Graph graph = builder.Build();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), graph.operators.size());
  Outputs outputs;
  EXPECT_TRUE(RunOnce(&host, 1, 0xCD, &outputs)) << host.errors();
}

TEST(Planning, ProductsBeforeBits) {
  ModelBuilder builder(kTfLiteFloat32, {1, 1, 1, 1});
  for (int i = 0; i < kMany; ++i) builder.AddBinary(builtin::kMul, kTfLiteActNone);
  MustRun(builder.AddQuantize());
}

// The search finds each activation from the one after it, and none can be absorbed.
TEST(Planning, ActivationsBeforeBits) {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 1});
  for (int i = 0; i < kMany; ++i) builder.AddRelu(builtin::kRelu);
  MustRun(builder.AddQuantize());
}

TEST(Planning, ActivationsOfBits) {
  ModelBuilder builder(kTfLiteInt32, {1, 4, 4, 1});
  builder.AddDequantize(kTfLiteFloat32);
  for (int i = 0; i < kMany; ++i) builder.AddRelu(builtin::kRelu);
  MustRun(builder);
}

// Many sums are in one group, and each reads the result of another group.
TEST(Planning, SumsOfManyGroups) {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 1});
  const int input = builder.LastTensor();
  std::vector<int> pooled;
  for (int i = 0; i < kMany / 4; ++i) {
    builder.AddFloatPool({.stride_height = 1, .stride_width = 1});
    pooled.push_back(builder.LastTensor());
  }
  builder.AddQuantize().AddDequantize(kTfLiteFloat32);
  for (int tensor : pooled) builder.AddBinary(builtin::kAdd, kTfLiteActNone, tensor);
  builder.AddBinary(builtin::kAdd, kTfLiteActNone, input);
  MustRun(builder);
}

// All sums read one tensor.
TEST(Planning, SumsOfOneShortcut) {
  ModelBuilder builder(kTfLiteFloat32, {1, 4, 4, 1});
  builder.AddQuantize().AddDequantize(kTfLiteFloat32);
  const int shortcut = builder.LastTensor();
  builder.AddFloatPool({.stride_height = 1, .stride_width = 1});
  for (int i = 0; i < kMany; ++i) {
    builder.AddBinary(builtin::kAdd, kTfLiteActNone, shortcut);
  }
  MustRun(builder);
}

// There are as many groups, and as many tensors in memory, as steps.
TEST(Planning, StepsOneByOne) {
  ModelBuilder builder(kTfLiteFloat32, {1, 1, 1, 1});
  for (int i = 0; i < kMany / 4; ++i) builder.AddQuantize().AddDequantize(kTfLiteFloat32);
  MustRun(builder);
  MustRun(builder, {{"fuse", "off"}});
}

}  // namespace
}  // namespace larq_engine::testing
