// Tests how many products an operator takes. tests/runtime/cpu/step_test.cc tests those of
// LceBconv2d.
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// For operators whose output tells how many products there are.
int64_t MacsOf(const Op& op, const TensorShape& output) { return Macs(op, {}, output); }

TEST(Macs, AreThoseOfAllOutputValues) {
  const TensorShape image = {.dims = {2, 5, 6, 8}};
  Conv2dOp conv{};
  conv.spec = {
      .in_channels = 4, .out_channels = 8, .window = {.height = {.taps = 3}, .width = {.taps = 2}}};
  EXPECT_EQ(MacsOf(conv, image), 2 * 5 * 6 * 8 * (3 * 2 * 4));
  conv.spec.is_depthwise = true;
  EXPECT_EQ(MacsOf(conv, image), 2 * 5 * 6 * 8 * (3 * 2));

  Int8Conv2dOp int8_conv{};
  int8_conv.spec = {
      .in_channels = 4, .out_channels = 8, .window = {.height = {.taps = 3}, .width = {.taps = 2}}};
  EXPECT_EQ(MacsOf(int8_conv, image), 2 * 5 * 6 * 8 * (3 * 2 * 4));

  const TensorShape rows = {.dims = {3, 10}};
  DenseOp dense{};
  dense.depth = 7;
  EXPECT_EQ(MacsOf(dense, rows), 3 * 10 * 7);
  SignedDenseOp signed_dense{};
  signed_dense.shape.depth = 7;
  EXPECT_EQ(MacsOf(signed_dense, rows), 3 * 10 * 7);

  EXPECT_EQ(MacsOf(SoftmaxOp{}, rows), 0);
}

TEST(Macs, OfProductsOfMatrices) {
  const TensorShape inputs[] = {{.dims = {2, 3, 7}}, {.dims = {7, 5}}};
  const TensorShape swapped[] = {{.dims = {2, 7, 3}}, {.dims = {7, 5}}};
  BatchMatmulOp product = {.left_is_transposed = false, .right_is_transposed = false};
  EXPECT_EQ(Macs(product, inputs, product.Shape(inputs)), 2 * 3 * 5 * 7);
  product.left_is_transposed = true;
  EXPECT_EQ(Macs(product, swapped, product.Shape(swapped)), 2 * 3 * 5 * 7);
}

// Each pixel of the input is multiplied by all taps, whatever the size of the output.
TEST(Macs, OfTransposedConvolutions) {
  const TransposedConv2dSpec spec = {
      .in_channels = 4,
      .out_channels = 8,
      .window = {.height = {.taps = 3, .stride = 2}, .width = {.taps = 2, .stride = 3}},
      .out_height = 7,
      .out_width = 8};
  TransposedConv2dOp conv{};
  conv.spec = spec;
  Int8TransposedConv2dOp int8_conv{};
  int8_conv.spec = spec;
  const TensorShape input = {.dims = {2, 3, 3, 4}};
  const TensorShape output = conv.Shape({&input, 1});
  constexpr int64_t kProducts = 2 * 3 * 3 * 8 * (3 * 2 * 4);
  EXPECT_EQ(Macs(conv, {&input, 1}, output), kProducts);
  EXPECT_EQ(Macs(int8_conv, {&input, 1}, output), kProducts);
}

TEST(Macs, AreTheMostWhereTheyWouldBeMore) {
  EXPECT_EQ(CountProducts(kMost / 2, 2), kMost - 1);
  EXPECT_EQ(CountProducts(kMost / 2, 3), kMost);
  EXPECT_EQ(AddProducts(kMost - 1, 1), kMost);
  EXPECT_EQ(AddProducts(kMost - 1, 2), kMost);
  if (sizeof(size_t) < sizeof(int64_t)) return;  // no such shape is accepted there
  DenseOp dense{};
  dense.depth = std::numeric_limits<int>::max();
  EXPECT_EQ(MacsOf(dense, {.dims = {1 << 17, 1 << 17}}), kMost);
}

}  // namespace
}  // namespace larq_engine
