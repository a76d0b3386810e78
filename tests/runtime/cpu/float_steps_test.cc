// Tests the steps of SOFTMAX, LOGISTIC and FULLY_CONNECTED, of DEPTHWISE_CONV_2D with a multiplier,
// in shapes that only hosts compute where there is one, and of 1x1 CONV_2D.
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "tests/common/seed.h"
#include "tests/runtime/cpu/step_runner.h"

namespace larq_engine {
namespace {

using testing::kPieceSizes;
using testing::kWhole;
using testing::PieceSize;
using testing::Random;
using testing::StepRunner;
using Floats = std::vector<float>;

constexpr float kUntouched = -99.0f;

size_t Count(const std::vector<int>& dims) {
  size_t count = 1;
  for (int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

Floats RandomFloats(Random& random, size_t count) {
  Floats values(count);
  for (float& value : values) value = random.Float(-2, 2);
  return values;
}

// tests/kernels/pixel_ops_test.cc has the bounds of errors.
TEST(SoftmaxStep, OfRows) {
  Random random;
  StepRunner runner(SoftmaxOp{.beta = 0.5f});
  for (const std::vector<int>& dims : std::vector<std::vector<int>>{
           {2, 10}, {1000}, {1, 3, 4, 21}, {5, 1}, {3, 2, 2, 1, 2, 7}, {0, 7}, {7, 0}}) {
    EXPECT_EQ(runner.Resize(dims), dims);
    const auto channels = static_cast<size_t>(dims.back());
    const Floats in = RandomFloats(random, Count(dims));
    const Floats whole = runner.Run(in, kWhole, kUntouched);
    for (size_t row = 0; row * channels < in.size(); ++row) {
      double sum = 0;
      for (size_t c = 0; c < channels; ++c) sum += std::exp(0.5 * in[row * channels + c]);
      for (size_t c = 0; c < channels; ++c) {
        const double expected = std::exp(0.5 * in[row * channels + c]) / sum;
        ASSERT_NEAR(whole[row * channels + c], expected, 1e-5 * expected);
      }
    }
    for (const PieceSize& size : kPieceSizes) EXPECT_EQ(runner.Run(in, size, kUntouched), whole);
  }
}

TEST(UnaryStep, LogisticOfAnyRank) {
  Random random;
  StepRunner runner(UnaryOp{.function = UnaryOp::kLogistic});
  for (const std::vector<int>& dims :
       std::vector<std::vector<int>>{{2, 3, 5, 7}, {40}, {2, 1, 2, 1, 3, 2}, {0, 3, 3}}) {
    EXPECT_EQ(runner.Resize(dims), dims);
    const Floats in = RandomFloats(random, Count(dims));
    for (const PieceSize& size : kPieceSizes) {
      const Floats out = runner.Run(in, size, kUntouched);
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_NEAR(out[i], 1 / (1 + std::exp(-double{in[i]})), 5e-7) << in[i];
      }
    }
  }
}

// A layer of units with weights of their own; `data` must live as long as the operator.
struct DenseData {
  DenseData(Random& random, int depth, int units)
      : weights(RandomFloats(random, static_cast<size_t>(depth * units))),
        bias(RandomFloats(random, static_cast<size_t>(units))) {}
  Floats weights;
  Floats bias;
};

DenseOp Dense(const DenseData& data, int depth, int units, bool keeps_dims, Activation activation) {
  DenseOp op{};
  op.depth = depth;
  op.units = units;
  op.keeps_dims = keeps_dims;
  op.activation = activation;
  op.weights = ConstantValues<float>(data.weights.data(), data.weights.size() * sizeof(float));
  op.bias = data.bias;
  return op;
}

// Sums in the order of the depth: with few weights each product and each sum is rounded, and
// otherwise both together.
float DenseValue(const DenseOp& op, const float* row, size_t unit) {
  const auto depth = static_cast<size_t>(op.depth);
  const float* weights = op.weights.data() + unit * depth;
  float sum = 0;
  for (size_t d = 0; d < depth; ++d) {
    sum = op.HasFewWeights() ? sum + row[d] * weights[d] : std::fma(row[d], weights[d], sum);
  }
  return Clamp(sum + op.bias[unit], ActivationRange(op.activation));
}

TEST(DenseStep, OfAnySize) {
  struct Case {
    int depth;
    int units;
    bool keeps_dims;
    Activation activation;
    std::vector<std::vector<int>> inputs;
  };
  Random random;
  for (const auto& [depth, units, keeps_dims, activation, inputs] :
       {Case{512, 128, false, Activation::kNone, {{1, 512}, {2, 512}}},
        Case{512, 129, false, Activation::kNone, {{1, 512}, {25, 512}, {2, 4, 2, 64}, {0, 512}}},
        Case{70, 1000, false, Activation::kRelu, {{1, 70}, {13, 70}, {1, 2, 5, 7}}},
        Case{300, 257, true, Activation::kRelu6, {{2, 3, 300}, {1, 1, 1, 1, 300}, {300}}},
        Case{70000, 1, true, Activation::kNone, {{3, 70000}}},
        Case{1, 70000, true, Activation::kNone, {{2, 1}}}}) {
    const DenseData data(random, depth, units);
    const DenseOp op = Dense(data, depth, units, keeps_dims, activation);
    StepRunner runner(op), reference(op, std::string(kReferenceKernel));
    for (const std::vector<int>& dims : inputs) {
      runner.Resize(dims);
      reference.Resize(dims);
      const Floats in = RandomFloats(random, Count(dims));
      Floats expected;
      for (const float* row = in.data(); row < in.data() + in.size(); row += depth) {
        for (int unit = 0; unit < units; ++unit) {
          expected.push_back(DenseValue(op, row, static_cast<size_t>(unit)));
        }
      }
      for (const PieceSize& size : kPieceSizes) {
        ASSERT_EQ(runner.Run(in, size, kUntouched), expected)
            << depth << " to " << units << ", " << ::testing::PrintToString(dims);
      }
      ASSERT_EQ(reference.Run(in, kWhole, kUntouched), expected);
    }
  }
}

TEST(DenseStep, KeepsInfinitiesAndNan) {
  Random random;
  const DenseData data(random, 400, 200);
  StepRunner runner(Dense(data, 400, 200, false, Activation::kNone));
  runner.Resize({3, 400});
  Floats in = RandomFloats(random, 3 * 400);
  in[7] = std::numeric_limits<float>::infinity();
  in[400 + 7] = std::numeric_limits<float>::quiet_NaN();
  const Floats out = runner.Run(in, kWhole, kUntouched);
  for (size_t unit = 0; unit < 200; ++unit) {
    const float weight = data.weights[unit * 400 + 7];
    EXPECT_EQ(out[unit], std::copysign(std::numeric_limits<float>::infinity(), weight));
    EXPECT_TRUE(std::isnan(out[200 + unit]));
    EXPECT_TRUE(std::isfinite(out[400 + unit]));
  }
}

// Adds up the taps that are in the image, in their order.
Floats Multiplied(const Conv2dOp& op, const Floats& in, const std::vector<int>& dims,
                  const std::vector<int>& out_dims) {
  const WindowAxes axes = op.spec.window.Over(dims[1], dims[2]);
  const int64_t channels = op.spec.in_channels, filters = op.spec.out_channels;
  Floats out;
  for (int64_t at = 0; at < static_cast<int64_t>(Count(out_dims)); ++at) {
    const int64_t c = at % filters, x = at / filters % out_dims[2];
    const int64_t y = at / filters / out_dims[2] % out_dims[1];
    const int64_t image = at / filters / out_dims[2] / out_dims[1];
    float sum = 0;
    for (int64_t tap = 0; tap < op.spec.depth(); ++tap) {
      const int64_t from_y =
          y * axes.height.stride - axes.height.pad_before + tap / axes.width.taps;
      const int64_t from_x = x * axes.width.stride - axes.width.pad_before + tap % axes.width.taps;
      if (from_y < 0 || from_y >= dims[1] || from_x < 0 || from_x >= dims[2]) continue;
      const int64_t pixel = (image * dims[1] + from_y) * dims[2] + from_x;
      sum = std::fma(in[static_cast<size_t>(pixel * channels + c / (filters / channels))],
                     op.filter.data()[tap * filters + c], sum);
    }
    out.push_back(Clamp(sum + op.bias[static_cast<size_t>(c)], ActivationRange(op.activation)));
  }
  return out;
}

TEST(Conv2dStep, DepthwiseWithMultiplier) {
  struct Case {
    int channels;
    int multiplier;
    Window2d window;
  };
  Random random;
  const AxisPadding same = {.same = true};
  for (const auto& [channels, multiplier, window] :
       {Case{5, 2, {.height = {.taps = 3, .padding = same}, .width = {.taps = 3, .padding = same}}},
        Case{1, 8, {.height = {.taps = 10, .stride = 2, .padding = same}, .width = {.taps = 8}}},
        Case{3, 33, {.height = {.taps = 1}, .width = {.taps = 2, .stride = 2}}},
        Case{1, 4, {.height = {.taps = 1}, .width = {.taps = 1}}},
        Case{64, 2, {.height = {.taps = 1}, .width = {.taps = 1}}}}) {
    Conv2dOp op{};
    op.spec = {.is_depthwise = true,
               .in_channels = channels,
               .out_channels = int64_t{channels} * multiplier,
               .window = window};
    op.activation = Activation::kRelu6;
    const Floats filter =
        RandomFloats(random, static_cast<size_t>(op.spec.depth() * op.spec.out_channels));
    op.filter = ConstantValues<float>(filter.data(), filter.size() * sizeof(float));
    op.bias = RandomFloats(random, static_cast<size_t>(op.spec.out_channels));
    StepRunner runner(op);
    for (const std::vector<int>& dims : std::vector<std::vector<int>>{
             {2, 11, 9, channels}, {1, 20, 60, channels}, {0, 11, 9, channels}}) {
      const std::vector<int> out_dims = runner.Resize(dims);
      const Floats in = RandomFloats(random, Count(dims));
      const Floats expected = Multiplied(op, in, dims, out_dims);
      for (const PieceSize& size : kPieceSizes) {
        ASSERT_EQ(runner.Run(in, size, kUntouched), expected)
            << channels << " times " << multiplier << ", " << ::testing::PrintToString(dims);
      }
    }
  }
}

// A 1x1 convolution that widens pixels joins no group, and yet gets the pixels that it computes.
TEST(Conv2dStep, OfSinglePixels) {
  Random random;
  for (const int64_t filters : {3, 7, 8}) {
    Conv2dOp op{};
    op.spec = {.in_channels = 7,
               .out_channels = filters,
               .window = {.height = {.taps = 1}, .width = {.taps = 1}}};
    const Floats filter = RandomFloats(random, static_cast<size_t>(7 * filters));
    op.filter = ConstantValues<float>(filter.data(), filter.size() * sizeof(float));
    op.bias = RandomFloats(random, static_cast<size_t>(filters));
    StepRunner runner(op);
    EXPECT_EQ(runner.step().pixelwise(), filters <= 7);
    EXPECT_FALSE(runner.step().reads_whole(0));
    const std::vector<int> dims = {2, 5, 13, 7};
    runner.Resize(dims);
    const Floats in = RandomFloats(random, Count(dims));
    Floats expected;
    for (size_t pixel = 0; pixel < in.size() / 7; ++pixel) {
      for (size_t c = 0; c < op.bias.size(); ++c) {
        float sum = 0;
        for (size_t k = 0; k < 7; ++k) sum = std::fma(in[pixel * 7 + k], filter[c * 7 + k], sum);
        expected.push_back(sum + op.bias[c]);
      }
    }
    for (const PieceSize& size : kPieceSizes) {
      ASSERT_EQ(runner.Run(in, size, kUntouched), expected) << filters;
    }
  }
}

}  // namespace
}  // namespace larq_engine
