// Tests convolutions of int8 images over every row that computes them, against sums written from
// the definition. It also tests which rows these are, and for which layers they are preferred.
#include "larq_engine/kernels/layers/int8_conv2d.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/bytes/select.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/table.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

constexpr int8_t kCanary = 77;

struct Problem {
  Int8Conv2dSpec spec;
  int64_t images;
  int64_t height;
  int64_t width;
  std::vector<int8_t> filter;
  std::vector<int8_t> input;
  Int8Output output;

  int64_t pixels() const { return images * spec.window.Over(height, width).out_pixels(); }

  int32_t Value(int64_t image, int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return spec.zero_point;
    const int64_t pixel = (image * height + y) * width + x;
    return input[static_cast<size_t>(pixel * spec.in_channels + c)];
  }

  // Rounds as std::nearbyint does, halves to even.
  int8_t Expected(int64_t pixel, int64_t channel) const {
    const auto [rows, columns] = spec.window.Over(height, width);
    const int64_t x = pixel % columns.out * columns.stride - columns.pad_before;
    const int64_t y = pixel / columns.out % rows.out * rows.stride - rows.pad_before;
    const int64_t image = pixel / columns.out / rows.out;
    auto sum = static_cast<uint32_t>(output.bias[static_cast<size_t>(channel)]);
    const int8_t* weight = filter.data() + channel * spec.depth();
    for (int64_t ty = 0; ty < spec.window.height.taps; ++ty) {
      for (int64_t tx = 0; tx < spec.window.width.taps; ++tx) {
        for (int64_t c = 0; c < spec.in_channels; ++c) {
          const int32_t value = Value(image, y + ty, x + tx, c) - spec.zero_point;
          sum += static_cast<uint32_t>(value * *weight++);
        }
      }
    }
    const float multiplier = output.multiplier[static_cast<size_t>(channel)];
    const float steps = static_cast<float>(static_cast<int32_t>(sum)) * multiplier;
    const float rounded = std::nearbyint(std::fmin(std::fmax(steps, -300.0f), 300.0f));
    const float kept = std::fmin(std::fmax(rounded, output.range.min), output.range.max);
    return static_cast<int8_t>(static_cast<int32_t>(kept) + output.zero_point);
  }
};

Problem Draw(Random& random, const Int8Conv2dSpec& spec, int64_t images, int64_t height,
             int64_t width) {
  Problem problem{
      .spec = spec,
      .images = images,
      .height = height,
      .width = width,
      .filter = std::vector<int8_t>(static_cast<size_t>(spec.out_channels * spec.depth())),
      .input = std::vector<int8_t>(static_cast<size_t>(images * height * width * spec.in_channels)),
      .output = {}};
  for (int8_t& weight : problem.filter) weight = static_cast<int8_t>(random.Int(-127, 127));
  for (int8_t& value : problem.input) value = static_cast<int8_t>(random.Int(-128, 127));
  const auto zero_point = static_cast<int32_t>(random.Int(-128, 127));
  problem.output.zero_point = zero_point;
  problem.output.range = {static_cast<float>(-128 - zero_point),
                          static_cast<float>(127 - zero_point)};
  const float usual = 1 / (90.0f * std::sqrt(static_cast<float>(spec.depth())));
  for (int64_t c = 0; c < spec.out_channels; ++c) {
    problem.output.bias.push_back(static_cast<int32_t>(random.Int(-5000, 5000)));
    problem.output.multiplier.push_back(random.Float(usual / 4, usual));
  }
  return problem;
}

class Int8Conv2dTest : public testing::RowTest<ByteRow> {
 protected:
  // Runs ranges of pixels, each with buffers at an inaccessible page.
  void ExpectExact(const Problem& problem, int64_t range, Guard guard = Guard::kAfter) {
    const CpuFeatures cpu = DetectCpuFeatures();
    const GuardedBuffer<int8_t> input{std::span<const int8_t>(problem.input), guard};
    for (const PixelOpsRow& pixel_ops : PixelOpsRows()) {
      if (!cpu.Has(pixel_ops.isa)) continue;
      Int8Conv2d conv(problem.spec, problem.filter.data(), problem.output, GetParam(),
                      *pixel_ops.ops);
      conv.Resize(problem.height, problem.width);
      const auto channels = static_cast<size_t>(problem.spec.out_channels);
      GuardedBuffer<std::byte> scratch(RoundUp(conv.scratch_bytes(), kBufferAlignment));
      for (int64_t first = 0; first < problem.pixels(); first += range) {
        const int64_t last = std::min(first + range, problem.pixels());
        GuardedBuffer<int8_t> output(static_cast<size_t>(last - first) * channels, guard);
        std::fill_n(output.data(), output.size(), kCanary);
        conv.Run(input.data(), first, last, scratch.data(), output.data());
        for (int64_t pixel = first; pixel < last; ++pixel) {
          for (size_t c = 0; c < channels; ++c) {
            const size_t at = static_cast<size_t>(pixel - first) * channels + c;
            ASSERT_EQ(output.data()[at], problem.Expected(pixel, static_cast<int64_t>(c)))
                << conv.kernel() << " pixel " << pixel << " channel " << c;
          }
        }
      }
    }
  }
};

TEST_P(Int8Conv2dTest, AnyLayer) {
  for (int i = 0; i < 60; ++i) {
    const AxisPadding padding = {.same = random_.Int(0, 1) == 1};
    const Int8Conv2dSpec spec = {
        .in_channels = random_.Int(1, 9),
        .out_channels = random_.Int(1, 70),
        .window =
            {.height = {.taps = random_.Int(1, 7), .stride = random_.Int(1, 4), .padding = padding},
             .width = {.taps = random_.Int(1, 7), .stride = random_.Int(1, 4), .padding = padding}},
        .zero_point = static_cast<int32_t>(random_.Int(-128, 127))};
    const int64_t least = padding.same ? 1 : 7;
    const Problem problem =
        Draw(random_, spec, random_.Int(1, 3), random_.Int(least, 15), random_.Int(least, 40));
    ExpectExact(problem, random_.Int(1, 50), i % 2 == 0 ? Guard::kAfter : Guard::kBefore);
  }
}

// Each line is computed in several stretches, some of a single pixel.
TEST_P(Int8Conv2dTest, WideImages) {
  const Int8Conv2dSpec stem = {
      .in_channels = 3,
      .out_channels = 8,
      .window = SquareWindow({.taps = 3, .stride = 2, .padding = {.same = true}})};
  ExpectExact(Draw(random_, stem, 1, 4, 700), 1000);
  const Int8Conv2dSpec wide = {
      .in_channels = 4,
      .out_channels = 3,
      .window = {.height = {.taps = 2, .stride = 1, .padding = {.same = true}},
                 .width = {.taps = 200, .stride = 3, .padding = {.same = true}}}};
  ExpectExact(Draw(random_, wide, 1, 3, 300), 1000);
}

TEST_P(Int8Conv2dTest, SumsWrap) {
  const Int8Conv2dSpec spec = {.in_channels = 3,
                               .out_channels = 4,
                               .window = SquareWindow({.taps = 3, .padding = {.same = true}}),
                               .zero_point = -128};
  Problem problem = Draw(random_, spec, 1, 6, 6);
  problem.output.bias = {std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(),
                         std::numeric_limits<int32_t>::max() - 1000, 0};
  problem.output.multiplier = {0x1p-25f, 0x1p-25f, 0x1p-25f, 0x1p-12f};
  ExpectExact(problem, 100);
}

TEST_P(Int8Conv2dTest, HalvesAndRanges) {
  const Int8Conv2dSpec spec = {.in_channels = 3, .out_channels = 5};
  Problem problem = Draw(random_, spec, 1, 16, 16);
  problem.output.multiplier.assign(5, 0x1p-9f);
  problem.output.zero_point = -128;
  problem.output.range = {0, 40};
  ExpectExact(problem, 1000);
}

TEST_P(Int8Conv2dTest, NoImages) {
  const Int8Conv2dSpec spec = {.in_channels = 3, .out_channels = 5};
  ExpectExact(Draw(random_, spec, 0, 4, 4), 10);
  Int8Conv2d conv(spec, Draw(random_, spec, 1, 1, 1).filter.data(),
                  Draw(random_, spec, 1, 1, 1).output, GetParam(), *PixelOpsRows()[0].ops);
  conv.Resize(0, 0);
  conv.Run(nullptr, 0, 0, nullptr, nullptr);
}

std::vector<ByteRow> Rows() {
  std::vector<ByteRow> rows;
  for (const ByteRow& row : ByteRows()) {
    if (row.weight_planes == 7) rows.push_back(row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Rows, Int8Conv2dTest, ::testing::ValuesIn(Rows()),
                         [](const auto& info) { return std::string(info.param.name); });

Int8Conv2dSpec Stem(int64_t in_channels, int64_t taps) {
  return {.in_channels = in_channels,
          .out_channels = 64,
          .window = SquareWindow({.taps = taps, .stride = 2})};
}

TEST(SelectInt8, RowForEachCpu) {
  const auto chosen = [](CpuFeatures cpu, std::string_view forced = kAutoKernel) {
    return std::string(SelectInt8(AllowedFeatures(cpu, forced), Stem(3, 7), forced).name);
  };
  EXPECT_EQ(chosen({}), "bytes_i32_4x4x4_portable");
#if defined(__x86_64__)
  const CpuFeatures avx2 = {Isa::kPopcnt, Isa::kAvx2};
  EXPECT_EQ(chosen(avx2), "bytes_i32_4x8x4_avx2");
  CpuFeatures vnni = avx2;
  vnni.Add(Isa::kAvx512bw);
  vnni.Add(Isa::kAvx512vnni);
  EXPECT_EQ(chosen(vnni), "bytes_i32_12x32x4_avx512vnni");
  EXPECT_EQ(chosen(vnni, "bytes_i32_4x8x4_avx2"), "bytes_i32_4x8x4_avx2");
  EXPECT_EQ(chosen(vnni, "bytes_i32_4x16x4_avx2"), "bytes_i32_4x8x4_avx2");
  EXPECT_EQ(chosen(vnni, "bgemm_i32_8x32x32_avx2"), "bytes_i32_4x8x4_avx2");
  EXPECT_EQ(chosen(vnni, kReferenceKernel), "bytes_i32_4x4x4_portable");
#endif
#if defined(__aarch64__)
  EXPECT_EQ(chosen({Isa::kNeon}), "bytes_i32_12x8x8_neon");
  EXPECT_EQ(chosen({Isa::kNeon, Isa::kDotprod}), "bytes_i32_12x16x4_dotprod");
#endif
#if defined(__wasm_simd128__)
  EXPECT_EQ(chosen({Isa::kSimd128}), "bytes_i32_4x4x4_simd128");
#endif
}

// No row of ARM was timed beside a host.
TEST(SelectInt8, IsPreferredForFewChannelsOnX86) {
  constexpr CpuFeatures kX86 = {Isa::kAvx2, Isa::kAvx512vnni, Isa::kAmxint8};
  for (const ByteRow& row : Rows()) {
    const bool is_timed = row.isa != Isa::kPortable && kX86.Has(row.isa);
    EXPECT_EQ(PrefersInt8(row, Stem(3, 7)), is_timed) << row.name;
    EXPECT_FALSE(PrefersInt8(row, Stem(8, 7))) << row.name;
    EXPECT_FALSE(PrefersInt8(row, Stem(3, 1))) << row.name;
  }
}

}  // namespace
}  // namespace larq_engine
