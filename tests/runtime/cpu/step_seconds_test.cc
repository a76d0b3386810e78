// Tests which of two steps is expected to take longer. How long they take, nobody can know.
#include "larq_engine/runtime/cpu/step_seconds.h"

#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/select.h"

namespace larq_engine {
namespace {

constexpr StepCpu kOneThread = {.features = {}, .kernel = kAutoKernel, .threads = 1};

// Returns the time of a 3x3 convolution with as many channels as filters.
double ConvSeconds(int size, int channels, const StepCpu& cpu = kOneThread, int groups = 1) {
  Bconv2dOp conv;
  conv.spec.in_channels = conv.spec.out_channels = channels;
  conv.spec.groups = groups;
  conv.spec.window.height.taps = conv.spec.window.width.taps = 3;
  const TensorShape output = {.dims = {1, size, size, channels}};
  return StepSeconds(conv, output, 0, cpu);
}

TEST(StepSeconds, MorePixelsAndMoreChannelsTakeLonger) {
  EXPECT_DOUBLE_EQ(ConvSeconds(28, 64), 4 * ConvSeconds(14, 64));
  EXPECT_GT(ConvSeconds(14, 128), 3 * ConvSeconds(14, 64));
  EXPECT_LT(ConvSeconds(14, 128, kOneThread, 2), ConvSeconds(14, 128));
}

TEST(StepSeconds, ThreadsShareIt) {
  const StepCpu four = {.features = {}, .kernel = kAutoKernel, .threads = 4};
  EXPECT_DOUBLE_EQ(ConvSeconds(28, 64), 4 * ConvSeconds(28, 64, four));
}

// A column is computed as a line, so it is expected to take as long.
TEST(StepSeconds, ColumnsTakeAsLongAsLines) {
  Bconv2dOp column;
  column.spec = {
      .in_channels = 1, .out_channels = 32, .window = {.height = {.taps = 80, .stride = 4}}};
  Bconv2dOp line;
  line.spec = Transposed(column.spec);
  EXPECT_DOUBLE_EQ(StepSeconds(column, {.dims = {1, 100, 1, 32}}, 0, kOneThread),
                   StepSeconds(line, {.dims = {1, 1, 100, 32}}, 0, kOneThread));
}

TEST(StepSeconds, TheReferenceIsTheSlowest) {
  const StepCpu reference = {.features = {}, .kernel = kReferenceKernel, .threads = 1};
  EXPECT_GT(ConvSeconds(28, 64, reference), ConvSeconds(28, 64));
}

// The time depends on the layer's products and not only on its bytes, most of all without SIMD.
TEST(StepSeconds, DenseLayersOfWeightBitsTakeTheirProducts) {
  const auto seconds = [](int depth, const StepCpu& cpu) {
    const SignedDenseOp dense = {
        .shape = {.depth = depth, .units = 64, .keeps_dims = false}, .weights = {}, .output = {}};
    return StepSeconds(dense, {.dims = {8, 64}}, 0, cpu);
  };
  EXPECT_GT(seconds(512, kOneThread), 0);
  EXPECT_DOUBLE_EQ(seconds(1024, kOneThread), 2 * seconds(512, kOneThread));
#if defined(__x86_64__)
  const StepCpu avx2 = {.features = {Isa::kAvx2}, .kernel = kAutoKernel, .threads = 1};
  EXPECT_GT(seconds(512, kOneThread), seconds(512, avx2));
#endif
}

// Weights that no cache keeps are read once, however many rows there are.
TEST(StepSeconds, DenseLayersOfFloatsTakeTheirProductsAndTheirWeights) {
  const auto seconds = [](int depth, int rows) {
    DenseOp dense{};
    dense.depth = depth;
    dense.units = 64;
    return StepSeconds(dense, {.dims = {rows, 64}}, 0, kOneThread);
  };
  EXPECT_GT(seconds(512, 1), 0);
  EXPECT_DOUBLE_EQ(seconds(1024, 1), 2 * seconds(512, 1));
  EXPECT_DOUBLE_EQ(seconds(512, 3), 3 * seconds(512, 1));
  EXPECT_GT(seconds(2048, 1), 2 * seconds(1024, 1));
  EXPECT_LT(seconds(2048, 2), 2 * seconds(2048, 1));
  EXPECT_GT(seconds(2048, 2), seconds(2048, 1));
}

TEST(StepSeconds, ExponentialsTakeTheirValues) {
  const std::vector<Op> ops = {SoftmaxOp{.beta = 1}, UnaryOp{.function = UnaryOp::kLogistic}};
  for (const Op& op : ops) {
    const double once = StepSeconds(op, {.dims = {2, 500}}, 0, kOneThread);
    EXPECT_GT(once, 0);
    EXPECT_DOUBLE_EQ(StepSeconds(op, {.dims = {2, 2, 500}}, 0, kOneThread), 2 * once);
  }
}

// Each channel's filters fill up vectors of their own.
TEST(StepSeconds, MultipliersTakeLongerThanAsManyChannels) {
  const auto seconds = [](int in_channels) {
    Conv2dOp conv{};
    conv.spec = {.is_depthwise = true, .in_channels = in_channels, .out_channels = 64};
    return StepSeconds(conv, {.dims = {1, 9, 9, 64}}, 0, kOneThread);
  };
  EXPECT_GT(seconds(32), seconds(64));
  EXPECT_GT(seconds(32), seconds(2));
}

TEST(StepSeconds, ElsewhereTheBytesCount) {
  const TensorShape output = {.dims = {1, 28, 28, 64}};
  const double once = StepSeconds(QuantizeOp{}, output, 1000, kOneThread);
  EXPECT_GT(once, 0);
  EXPECT_DOUBLE_EQ(StepSeconds(QuantizeOp{}, output, 2000, kOneThread), 2 * once);
}

#if defined(__x86_64__)
TEST(StepSeconds, FollowsTheRowOfTheCpu) {
  const auto seconds = [](CpuFeatures features, std::string_view kernel = kAutoKernel) {
    return ConvSeconds(28, 128, {.features = features, .kernel = kernel, .threads = 1});
  };
  const CpuFeatures avx2 = {Isa::kPopcnt, Isa::kAvx2};
  const CpuFeatures vpopcntdq = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vpopcntdq};
  EXPECT_GT(seconds({}), seconds(avx2));
  EXPECT_GT(seconds(avx2), seconds(vpopcntdq));
  EXPECT_EQ(seconds(avx2), seconds(vpopcntdq, "bgemm_i32_8x32x32_avx2"));
}
#endif

}  // namespace
}  // namespace larq_engine
