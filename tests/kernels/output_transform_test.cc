#include "larq_engine/kernels/output_transform.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

class OutputTransformTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__FMA__)
    if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this CPU has no fma";
#endif
  }
};

// One channel; depth 0 makes the dot product -2 * acc, so acc = -dot / 2 for even dots.
template <typename T>
T Transform(const OutputTransform& transform, int32_t even_dot) {
  const int32_t acc = -even_dot / 2;
  T out;
  TransformPixel(transform, &acc, 0, 1, &out);
  return out;
}

int Int8Of(float value, double scale = 1, int32_t zero_point = 0) {
  const float multiplier = 0;
  return Transform<int8_t>(
      MakeInt8Transform(Activation::kNone, &multiplier, &value, 1, scale, zero_point), 0);
}

TEST_F(OutputTransformTest, Int8RoundsHalvesAwayFromZero) {
  EXPECT_EQ(Int8Of(0.5f), 1);
  EXPECT_EQ(Int8Of(-0.5f), -1);
  EXPECT_EQ(Int8Of(1.5f), 2);
  EXPECT_EQ(Int8Of(2.5f), 3);
  EXPECT_EQ(Int8Of(-2.5f), -3);
  EXPECT_EQ(Int8Of(0.49999997f), 0);  // the float below one half
  EXPECT_EQ(Int8Of(-0.49999997f), 0);
  EXPECT_EQ(Int8Of(2.49f), 2);
}

TEST_F(OutputTransformTest, Int8AddsTheZeroPointAfterRounding) {
  EXPECT_EQ(Int8Of(-0.5f, 1, 1), 0);
  EXPECT_EQ(Int8Of(2.5f, 1, -10), -7);
}

TEST_F(OutputTransformTest, Int8Saturates) {
  EXPECT_EQ(Int8Of(1e30f), 127);
  EXPECT_EQ(Int8Of(-1e30f), -128);
  EXPECT_EQ(Int8Of(127.4f), 127);
  EXPECT_EQ(Int8Of(127.5f), 127);
  EXPECT_EQ(Int8Of(-128.6f), -128);
  EXPECT_EQ(Int8Of(100.0f, 1, 100), 127);
  EXPECT_EQ(Int8Of(-100.0f, 1, -100), -128);
  EXPECT_EQ(Int8Of(std::numeric_limits<float>::infinity()), 127);
  EXPECT_EQ(Int8Of(-std::numeric_limits<float>::infinity()), -128);
  EXPECT_EQ(Int8Of(std::numeric_limits<float>::quiet_NaN(), 1, 5), -128);
}

TEST_F(OutputTransformTest, Int8DividesByTheScale) {
  EXPECT_EQ(Int8Of(10.0f, 0.25), 40);
  EXPECT_EQ(Int8Of(10.0f, 20), 1);
}

TEST_F(OutputTransformTest, FloatRoundsTheProductBeforeTheSum) {
  // 3 * (1 + 2^-23) is not a float; a fused multiply-add would keep the rest of it.
  const float multiplier = 1 + 0x1p-23f;
  const float bias = -12.0f;
  const float product = 12.0f * multiplier;
  const float y =
      Transform<float>(MakeFloatTransform(Activation::kNone, &multiplier, &bias, 1), 12);
  EXPECT_EQ(y, product - 12.0f);
  EXPECT_NE(y, std::fma(12.0f, multiplier, bias));
}

TEST_F(OutputTransformTest, ActivationsClampBeforeTheMultiplier) {
  const float multiplier = -2.0f;
  const float bias = 1.0f;
  const auto y = [&](Activation activation, int32_t dot) {
    return Transform<float>(MakeFloatTransform(activation, &multiplier, &bias, 1), dot);
  };
  EXPECT_EQ(y(Activation::kNone, -8), 17.0f);
  EXPECT_EQ(y(Activation::kRelu, -8), 1.0f);
  EXPECT_EQ(y(Activation::kRelu, 8), -15.0f);
  EXPECT_EQ(y(Activation::kRelu6, 8), -11.0f);
  EXPECT_EQ(y(Activation::kRelu6, 4), -7.0f);
  EXPECT_EQ(y(Activation::kReluN1To1, -8), 3.0f);
  EXPECT_EQ(y(Activation::kReluN1To1, 8), -1.0f);
}

TEST_F(OutputTransformTest, ThresholdsCompareTheCountAtFullDepth) {
  const auto bit = [](int32_t threshold, int32_t acc, int32_t depth) {
    const OutputTransform transform = MakeBitsTransform(&threshold, 1, 100);
    uint32_t out = 0;
    TransformPixel(transform, &acc, depth, 1, &out);
    return out;
  };
  EXPECT_EQ(bit(40, 40, 100), 0u);
  EXPECT_EQ(bit(40, 41, 100), 1u);
  EXPECT_EQ(bit(INT32_MIN, 0, 100), 1u);
  EXPECT_EQ(bit(INT32_MAX, 100, 100), 0u);
  // 90 of 100 products are left, 36 of them differ: dot 18, as 41 of 100 would give.
  EXPECT_EQ(bit(40, 36, 90), 1u);
  EXPECT_EQ(bit(41, 36, 90), 0u);
  // An odd number left: dot 17 lies between 41 and 42 of 100.
  EXPECT_EQ(bit(41, 36, 89), 1u);
  EXPECT_EQ(bit(42, 36, 89), 0u);
}

TEST_F(OutputTransformTest, BitsFillWordsAndLeaveTheTailZero) {
  const std::vector<int32_t> threshold(33, INT32_MIN);  // always -1
  const OutputTransform transform = MakeBitsTransform(threshold.data(), 33, 10);
  const std::vector<int32_t> acc(33, 0);
  uint32_t out[2] = {5, 5};
  TransformPixel(transform, acc.data(), 10, 33, out);
  EXPECT_EQ(out[0], ~0u);
  EXPECT_EQ(out[1], 1u);
  EXPECT_EQ(transform.PixelBytes(33), 8u);
}

}  // namespace
}  // namespace larq_engine
