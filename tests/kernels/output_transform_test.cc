// Tests the arithmetic of output transforms over every row of PixelOps; pixel_ops_test.cc tests all
// shapes.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/kernels/layers/transform_tile.h"
#include "larq_engine/kernels/pixels/table.h"

namespace larq_engine {
namespace {

class OutputTransformTest : public ::testing::TestWithParam<PixelOpsRow> {
 protected:
  void SetUp() override {
    if (!DetectCpuFeatures().Has(GetParam().isa)) {
      GTEST_SKIP() << "this CPU has no " << IsaName(GetParam().isa);
    }
#if defined(__FMA__)
    if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "this CPU has no fma";
#endif
  }

  // Transforms one pixel.
  void Run(const OutputTransform& transform, const std::vector<int32_t>& acc, int32_t depth,
           void* out) const {
    Transform(*GetParam().ops, transform,
              {.rows = 1,
               .first_channel = 0,
               .channels = acc.size(),
               .acc = acc.data(),
               .acc_stride = acc.size(),
               .depth = &depth,
               .out = out,
               .out_stride = transform.PixelBytes(acc.size())});
  }

  // Transforms one channel; depth 0 makes the dot product -2 * acc, so acc = -dot / 2 for even
  // dots.
  template <typename T>
  T Of(const OutputTransform& transform, int32_t even_dot) const {
    T out;
    Run(transform, {-even_dot / 2}, 0, &out);
    return out;
  }

  int Int8Of(float value, double scale = 1, int32_t zero_point = 0) const {
    const float multiplier = 0;
    return Of<int8_t>(
        MakeInt8Transform(Activation::kNone, &multiplier, &value, 1, scale, zero_point), 0);
  }
};

TEST_P(OutputTransformTest, Int8RoundsHalvesAwayFromZero) {
  EXPECT_EQ(Int8Of(0.5f), 1);
  EXPECT_EQ(Int8Of(-0.5f), -1);
  EXPECT_EQ(Int8Of(1.5f), 2);
  EXPECT_EQ(Int8Of(2.5f), 3);
  EXPECT_EQ(Int8Of(-2.5f), -3);
  EXPECT_EQ(Int8Of(0.49999997f), 0);  // the float below one half
  EXPECT_EQ(Int8Of(-0.49999997f), 0);
  EXPECT_EQ(Int8Of(2.49f), 2);
}

TEST_P(OutputTransformTest, Int8AddsTheZeroPointAfterRounding) {
  EXPECT_EQ(Int8Of(-0.5f, 1, 1), 0);
  EXPECT_EQ(Int8Of(2.5f, 1, -10), -7);
}

TEST_P(OutputTransformTest, Int8Saturates) {
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

TEST_P(OutputTransformTest, Int8DividesByTheScale) {
  EXPECT_EQ(Int8Of(10.0f, 0.25), 40);
  EXPECT_EQ(Int8Of(10.0f, 20), 1);
}

TEST_P(OutputTransformTest, FloatRoundsTheProductBeforeTheSum) {
  // 3 * (1 + 2^-23) is not a float; a fused multiply-add would not round it.
  const float multiplier = 1 + 0x1p-23f;
  const float bias = -12.0f;
  const float product = 12.0f * multiplier;
  const float y = Of<float>(MakeFloatTransform(Activation::kNone, &multiplier, &bias, 1), 12);
  EXPECT_EQ(y, product - 12.0f);
  EXPECT_NE(y, std::fma(12.0f, multiplier, bias));
}

TEST_P(OutputTransformTest, ActivationsClampBeforeTheMultiplier) {
  const float multiplier = -2.0f;
  const float bias = 1.0f;
  const auto y = [&](Activation activation, int32_t dot) {
    return Of<float>(MakeFloatTransform(activation, &multiplier, &bias, 1), dot);
  };
  EXPECT_EQ(y(Activation::kNone, -8), 17.0f);
  EXPECT_EQ(y(Activation::kRelu, -8), 1.0f);
  EXPECT_EQ(y(Activation::kRelu, 8), -15.0f);
  EXPECT_EQ(y(Activation::kRelu6, 8), -11.0f);
  EXPECT_EQ(y(Activation::kRelu6, 4), -7.0f);
  EXPECT_EQ(y(Activation::kReluN1To1, -8), 3.0f);
  EXPECT_EQ(y(Activation::kReluN1To1, 8), -1.0f);
}

TEST_P(OutputTransformTest, ThresholdsCompareTheCountAtFullDepth) {
  const auto bit = [this](int32_t threshold, int32_t acc, int32_t depth) {
    const OutputTransform transform = MakeBitsTransform(&threshold, 1, 100);
    uint32_t out = 0;
    Run(transform, {acc}, depth, &out);
    return out;
  };
  EXPECT_EQ(bit(40, 40, 100), 0u);
  EXPECT_EQ(bit(40, 41, 100), 1u);
  EXPECT_EQ(bit(INT32_MIN, 0, 100), 1u);
  EXPECT_EQ(bit(INT32_MAX, 100, 100), 0u);
  // 90 of 100 products are left, and 36 of these differ: the dot product is 18, as for 41 of 100.
  EXPECT_EQ(bit(40, 36, 90), 1u);
  EXPECT_EQ(bit(41, 36, 90), 0u);
  // If an odd number is left, dot 17 lies between 41 and 42 of 100.
  EXPECT_EQ(bit(41, 36, 89), 1u);
  EXPECT_EQ(bit(42, 36, 89), 0u);
}

TEST_P(OutputTransformTest, BitsFillWordsAndLeaveTheTailZero) {
  const std::vector<int32_t> threshold(33, INT32_MIN);  // always -1
  const OutputTransform transform = MakeBitsTransform(threshold.data(), 33, 10);
  const std::vector<int32_t> acc(33, 0);
  uint32_t out[2] = {5, 5};
  Run(transform, acc, 10, out);
  EXPECT_EQ(out[0], ~0u);
  EXPECT_EQ(out[1], 1u);
  EXPECT_EQ(transform.PixelBytes(33), 8u);
}

TEST_P(OutputTransformTest, TilesTakeTheParametersOfTheirChannels) {
  // There are two rows of the last 3 of 35 channels; other channels would give other values.
  std::vector<float> multiplier(35), bias(35);
  std::vector<int32_t> threshold(35, INT32_MAX);
  for (size_t j = 0; j < 35; ++j) {
    multiplier[j] = static_cast<float>(j);
    bias[j] = 100.0f * static_cast<float>(j);
  }
  threshold[33] = 4;
  const std::vector<int32_t> acc = {1, 5, 3, -1, -1, 2, 4, 6};
  const std::vector<int32_t> depth = {10, 20};
  TransformTile tile{.rows = 2,
                     .first_channel = 32,
                     .channels = 3,
                     .acc = acc.data(),
                     .acc_stride = 5,
                     .depth = depth.data(),
                     .out = nullptr,
                     .out_stride = 4 * sizeof(float)};
  std::vector<float> y(7, -1);
  tile.out = y.data();
  Transform(*GetParam().ops,
            MakeFloatTransform(Activation::kNone, multiplier.data(), bias.data(), 35), tile);
  EXPECT_EQ(y, (std::vector<float>{3200 + 8 * 32, 3300, 3400 + 4 * 34, -1, 3200 + 16 * 32,
                                   3300 + 12 * 33, 3400 + 8 * 34}));
  std::vector<uint32_t> bits(2);
  tile.out = bits.data();
  tile.out_stride = sizeof(uint32_t);
  // At depth 10, the 5 counts exceed the threshold 4; at depth 20 the dot product of 4 counts is
  // too large.
  Transform(*GetParam().ops, MakeBitsTransform(threshold.data(), 35, 10), tile);
  EXPECT_EQ(bits, (std::vector<uint32_t>{2, 0}));
}

INSTANTIATE_TEST_SUITE_P(Rows, OutputTransformTest,
                         ::testing::ValuesIn(PixelOpsRows().begin(), PixelOpsRows().end()),
                         [](const auto& info) { return std::string(IsaName(info.param.isa)); });

}  // namespace
}  // namespace larq_engine
