// Tests LceUnpackWeights: the values of the weights, that they are constant as soon as a host hands
// over its graph, and that they live as long as that host.
#include "larq_engine/runtime/host/unpacked_weights.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include "tests/host/mini_host.h"
#include "tests/host/model_builder.h"
#include "tests/host/run_graph.h"

namespace larq_engine::testing {
namespace {

template <typename T>
T ValueAt(std::span<const uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

// Computes the graph's only output element by element from the definition, as the floats' bits.
std::vector<uint32_t> Expected(const Graph& graph, size_t axis = 0) {
  const GraphOperator& op = graph.operators.back();
  const std::vector<uint8_t>& bits = graph.tensors[op.inputs[0]].data;
  const std::vector<uint8_t>& scale = graph.tensors[op.inputs[1]].data;
  const std::vector<int>& shape = graph.tensors[op.outputs[0]].shape;
  const size_t elements = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies());
  std::vector<uint32_t> values;
  for (size_t i = 0; i < elements; ++i) {
    size_t inner = 1;
    for (size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<size_t>(shape[d]);
    const size_t index = i / inner % static_cast<size_t>(shape[axis]);
    const bool minus = ValueAt<uint32_t>(bits, i / 32) >> i % 32 & 1;
    const float plus = ValueAt<float>(scale, scale.size() == 4 ? 0 : index);
    values.push_back(std::bit_cast<uint32_t>(minus ? -plus : plus));
  }
  return values;
}

std::vector<uint32_t> Values(const TfLiteTensor& tensor) {
  std::vector<uint32_t> values(tensor.bytes / 4);
  std::memcpy(values.data(), tensor.data.raw, tensor.bytes);
  return values;
}

Graph WeightsGraph(const std::vector<int>& shape = {6, 3, 3, 5}, int axis = 0, int scales = 6) {
  return ModelBuilder(kTfLiteFloat32, {1, 2}).AddUnpackWeights(shape, axis, scales).Build();
}

TEST(UnpackedWeights, AreScaledSigns) {
  const DelegatePtr delegate = CreateDelegate({});
  const std::vector<std::vector<int>> shapes = {
      {1}, {31}, {32}, {33}, {64}, {7, 5}, {1, 3, 3, 21}, {4, 3, 2, 8}, {2, 3, 1, 5, 4}};
  for (const std::vector<int>& shape : shapes) {
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      for (int scales : {1, shape[axis]}) {
        const Graph graph = WeightsGraph(shape, axis, scales);
        MiniHost host(graph);
        ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
        EXPECT_EQ(Values(host.output(0)), Expected(graph, static_cast<size_t>(axis)))
            << ::testing::PrintToString(shape) << " axis " << axis << ", " << scales << " scales";
      }
    }
  }
}

// Weights that are made at load time must be identical, bit by bit, to those that a file would
// hold.
TEST(UnpackedWeights, AnyScaleKeepsItsBits) {
  Graph graph = WeightsGraph({6, 11});
  const float scales[] = {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::denorm_min(),
                          -0.0f,
                          std::numeric_limits<float>::infinity(),
                          -3.5f,
                          std::numeric_limits<float>::max()};
  std::memcpy(graph.tensors[graph.operators[0].inputs[1]].data.data(), scales, sizeof(scales));
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(Values(host.output(0)), Expected(graph));
}

// Makes a graph of int8 weights. Their scales are whole numbers.
Graph Int8Graph(const std::vector<int>& shape, int axis, int scales) {
  Graph graph = WeightsGraph(shape, axis, scales);
  std::vector<uint8_t>& scale = graph.tensors[graph.operators[0].inputs[1]].data;
  for (size_t i = 0; i < scale.size() / 4; ++i) {
    const float value = std::array{127.0f, -127.0f, 0.0f, 1.0f}[i % 4];
    std::memcpy(&scale[4 * i], &value, sizeof(value));
  }
  graph.tensors[graph.operators[0].outputs[0]].type = kTfLiteInt8;
  return graph;
}

TEST(UnpackedWeights, OfInt8AreSignsTimesWholeNumbers) {
  const DelegatePtr delegate = CreateDelegate({});
  for (const std::vector<int>& shape : {std::vector<int>{5, 33}, {1, 3, 3, 21}, {4, 3, 2, 8}}) {
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      for (int scales : {1, shape[axis]}) {
        const Graph graph = Int8Graph(shape, axis, scales);
        MiniHost host(graph);
        ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
        const std::vector<uint32_t> floats = Expected(graph, static_cast<size_t>(axis));
        const TfLiteTensor& got = host.output(0);
        ASSERT_EQ(got.bytes, floats.size());
        for (size_t i = 0; i < floats.size(); ++i) {
          ASSERT_EQ(got.data.int8[i], std::bit_cast<float>(floats[i])) << i;
        }
        for (size_t i = 0; i < 16; ++i) ASSERT_EQ(got.data.int8[floats.size() + i], 0);
      }
    }
  }
}

// XNNPACK looks at the graph before anything is allocated.
TEST(UnpackedWeights, AreConstantBeforeAllocationAndStayWhereTheyAre) {
  const DelegatePtr delegate = CreateDelegate({});
  Graph graph = WeightsGraph();
  MiniHost host(graph);
  EXPECT_EQ(host.output(0).allocation_type, kTfLiteArenaRw);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  const void* data = host.output(0).data.data;
  for (const std::vector<int>& shape : {std::vector<int>{1, 2}, std::vector<int>{3, 2}}) {
    ASSERT_EQ(host.ResizeInput(0, shape), kTfLiteOk);
    Outputs outputs;
    ASSERT_TRUE(RunOnce(&host, 1, 0xCD, &outputs)) << host.errors();
    EXPECT_EQ(host.output(0).allocation_type, kTfLiteMmapRo);
    EXPECT_EQ(host.output(0).data.data, data);
    EXPECT_EQ(host.output(0).bytes, 270u * 4);
    EXPECT_EQ(Values(host.output(0)), Expected(graph));
  }
}

// XNN_EXTRA_BYTES must be readable; the sanitizer knows where the block ends.
TEST(UnpackedWeights, AreFollowedBySixteenReadableBytes) {
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(WeightsGraph());
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(host.output(0).data.f[270 + i], 0.0f);
}

TEST(UnpackedWeights, BelongToOneHostAndOutliveAnother) {
  const DelegatePtr delegate = CreateDelegate({});
  const Graph graph = WeightsGraph();
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk);
  {
    MiniHost other(graph);
    ASSERT_EQ(other.ApplyDelegate(delegate.get()), kTfLiteOk);
    EXPECT_NE(other.output(0).data.data, host.output(0).data.data);
  }
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0xCD, &outputs)) << host.errors();
  EXPECT_EQ(Values(host.output(0)), Expected(graph));
}

// A host may take the graph back (as it does when another delegate fails) and hand it over again.
TEST(UnpackedWeights, LeaveATensorThatIsStillToBeComputed) {
  const std::vector<uint8_t> options = EncodeOptions({{"axis", 0}});
  int32_t bits = 5;
  float scale = 0.5f;
  const IntArrayPtr one = MakeIntArray(std::vector{1}), three = MakeIntArray(std::vector{3});
  TfLiteTensor tensors[3] = {};
  tensors[0].type = kTfLiteInt32;
  tensors[0].data.i32 = &bits;
  tensors[1].type = tensors[2].type = kTfLiteFloat32;
  tensors[1].data.f = &scale;
  for (TfLiteTensor* constant : {&tensors[0], &tensors[1]}) {
    constant->dims = one.get();
    constant->allocation_type = kTfLiteMmapRo;
    constant->bytes = 4;
  }
  tensors[2].dims = three.get();
  tensors[2].allocation_type = kTfLiteArenaRw;
  TfLiteContext context = {};
  context.tensors = tensors;
  context.tensors_size = 3;
  const HostNode node{.op = FindOp(builtin::kCustom, "LceUnpackWeights"),
                      .index = 0,
                      .inputs = {0, 1},
                      .outputs = {2},
                      .options = options};
  for (int round = 0; round < 2; ++round) {
    std::optional<UnpackedWeights> weights(std::in_place, &context, node);
    EXPECT_EQ(tensors[2].allocation_type, kTfLiteMmapRo);
    EXPECT_EQ(std::vector<float>(tensors[2].data.f, tensors[2].data.f + 3),
              (std::vector<float>{-0.5f, 0.5f, -0.5f}));
    weights.reset();
    EXPECT_EQ(tensors[2].allocation_type, kTfLiteArenaRw);
    EXPECT_EQ(tensors[2].data.data, nullptr);
  }
}

TEST(UnpackedWeights, AreReadByOperatorsOfOursAndByTheUser) {
  ModelBuilder builder(kTfLiteFloat32, {1, 2});
  builder.AddUnpackWeights({3, 40}, 0, 1).AddQuantize();
  Graph graph = builder.Build();
  const int weights = graph.operators[0].outputs[0];
  graph.outputs.push_back(weights);
  std::vector<uint8_t>& scale = graph.tensors[graph.operators[0].inputs[1]].data;
  const float quarter = 0.25f;
  std::memcpy(scale.data(), &quarter, sizeof(quarter));
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  EXPECT_EQ(host.claimed_operators(), 2u);
  EXPECT_EQ(host.partitions(), 2u);
  Outputs outputs;
  ASSERT_TRUE(RunOnce(&host, 1, 0xCD, &outputs)) << host.errors();
  const std::vector<uint32_t> packed = Values(host.output(0)), values = Values(host.output(1));
  ASSERT_EQ(values.size(), 120u);
  for (size_t i = 0; i < values.size(); ++i) {
    const float value = std::bit_cast<float>(values[i]);
    EXPECT_EQ(std::abs(value), 0.25f);
    EXPECT_EQ(packed[i / 40 * 2 + i % 40 / 32] >> i % 40 % 32 & 1, value < 0) << i;
  }
}

// The other operators are a plan, which runs as if the weights were not there.
TEST(UnpackedWeights, DoNotDisturbAPlan) {
  ModelBuilder builder(kTfLiteFloat32, {1, 9, 7, 40});
  builder.AddQuantize().AddConv({.filters = 33, .output = kTfLiteInt32}).AddPool({});
  const Graph plain = builder.Build();
  Graph graph = builder.AddUnpackWeights({6, 3, 3, 5}, 3, 5).Build();
  graph.outputs = {plain.outputs[0], graph.outputs[0]};
  std::swap(graph.operators[1], graph.operators[3]);
  std::swap(graph.operators[2], graph.operators[3]);
  const DelegatePtr delegate = CreateDelegate({});
  MiniHost host(graph), plain_host(plain);
  ASSERT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  ASSERT_EQ(plain_host.ApplyDelegate(delegate.get()), kTfLiteOk);
  Outputs outputs, expected;
  ASSERT_TRUE(RunOnce(&host, 1, 0xCD, &outputs)) << host.errors();
  ASSERT_TRUE(RunOnce(&plain_host, 1, 0xCD, &expected));
  EXPECT_EQ(outputs[0], expected[0]);
  EXPECT_EQ(host.claimed_operators(), 4u);
}

}  // namespace
}  // namespace larq_engine::testing
