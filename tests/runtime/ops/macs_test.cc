// Tests how many products an operator takes. tests/runtime/cpu/step_test.cc tests those of
// LceBconv2d.
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Macs, AreThoseOfAllOutputValues) {
  const TensorShape image = {.dims = {2, 5, 6, 8}};
  Conv2dOp conv{};
  conv.spec = {
      .in_channels = 4, .out_channels = 8, .window = {.height = {.taps = 3}, .width = {.taps = 2}}};
  EXPECT_EQ(Macs(conv, image), 2 * 5 * 6 * 8 * (3 * 2 * 4));
  conv.spec.is_depthwise = true;
  EXPECT_EQ(Macs(conv, image), 2 * 5 * 6 * 8 * (3 * 2));

  Int8Conv2dOp int8_conv{};
  int8_conv.spec = {
      .in_channels = 4, .out_channels = 8, .window = {.height = {.taps = 3}, .width = {.taps = 2}}};
  EXPECT_EQ(Macs(int8_conv, image), 2 * 5 * 6 * 8 * (3 * 2 * 4));

  const TensorShape rows = {.dims = {3, 10}};
  DenseOp dense{};
  dense.depth = 7;
  EXPECT_EQ(Macs(dense, rows), 3 * 10 * 7);
  SignedDenseOp signed_dense{};
  signed_dense.shape.depth = 7;
  EXPECT_EQ(Macs(signed_dense, rows), 3 * 10 * 7);

  EXPECT_EQ(Macs(SoftmaxOp{}, rows), 0);
}

TEST(Macs, AreTheMostWhereTheyWouldBeMore) {
  EXPECT_EQ(CountProducts(kMost / 2, 2), kMost - 1);
  EXPECT_EQ(CountProducts(kMost / 2, 3), kMost);
  EXPECT_EQ(AddProducts(kMost - 1, 1), kMost);
  EXPECT_EQ(AddProducts(kMost - 1, 2), kMost);
  if (sizeof(size_t) < sizeof(int64_t)) return;  // no such shape is accepted there
  DenseOp dense{};
  dense.depth = std::numeric_limits<int>::max();
  EXPECT_EQ(Macs(dense, {.dims = {1 << 17, 1 << 17}}), kMost);
}

}  // namespace
}  // namespace larq_engine
