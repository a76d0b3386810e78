// Tests convolutions of floats over every row of the table, against sums written from the
// definition. A row that this CPU lacks is skipped (kernel_rows_test.cc lists these rows).
#include "larq_engine/kernels/layers/float_conv2d.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/bits.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/same_float.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;
using testing::SameFloat;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kCanary = __builtin_bit_cast(float, 0x5ca1ab1e);

struct Problem {
  FloatConv2dSpec spec;
  int64_t images;
  int64_t height;
  int64_t width;
  FloatRange range;
  std::vector<float> filter;
  std::vector<float> bias;
  std::vector<float> input;

  int64_t pixels() const { return images * spec.window.Over(height, width).out_pixels(); }

  float Value(int64_t image, int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return 0;
    const int64_t pixel = (image * height + y) * width + x;
    return input[static_cast<size_t>(pixel * spec.in_channels + c)];
  }

  // Adds up taps line by line, and channels in order; then adds the bias.
  float Expected(int64_t pixel, int64_t channel) const {
    const auto [rows, columns] = spec.window.Over(height, width);
    const int64_t x = pixel % columns.out * columns.stride - columns.pad_before;
    const int64_t y = pixel / columns.out % rows.out * rows.stride - rows.pad_before;
    const int64_t image = pixel / columns.out / rows.out;
    const int64_t group = channel / (spec.out_channels / spec.groups);
    const int64_t first = spec.is_depthwise ? channel : group * (spec.in_channels / spec.groups);
    const int64_t count = spec.is_depthwise ? 1 : spec.in_channels / spec.groups;
    float sum = 0;
    for (int64_t ty = 0; ty < spec.window.height.taps; ++ty) {
      for (int64_t tx = 0; tx < spec.window.width.taps; ++tx) {
        const int64_t tap = ty * spec.window.width.taps + tx;
        for (int64_t c = 0; c < count; ++c) {
          const int64_t taps = spec.window.height.taps * spec.window.width.taps;
          const int64_t at = spec.is_depthwise ? tap * spec.out_channels + channel
                                               : (channel * taps + tap) * count + c;
          sum = std::fma(Value(image, y + ty * rows.dilation, x + tx * columns.dilation, first + c),
                         filter[static_cast<size_t>(at)], sum);
        }
      }
    }
    sum += bias[static_cast<size_t>(channel)];
    if (sum < range.min) return range.min;
    return sum > range.max ? range.max : sum;
  }
};

Problem Draw(Random& random, const FloatConv2dSpec& spec, int64_t images, int64_t height,
             int64_t width) {
  const auto draw = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = random.Float(-2, 2);
    return values;
  };
  constexpr FloatRange kRanges[] = {
      {-kInfinity, kInfinity}, {-kInfinity, kInfinity}, {0, kInfinity}, {-1, 1}, {0, 6}};
  const int64_t inputs_of_output = spec.is_depthwise ? 1 : spec.in_channels / spec.groups;
  return {.spec = spec,
          .images = images,
          .height = height,
          .width = width,
          .range = kRanges[random.Int(0, std::ssize(kRanges) - 1)],
          .filter = draw(spec.out_channels * spec.window.height.taps * spec.window.width.taps *
                         inputs_of_output),
          .bias = draw(spec.out_channels),
          .input = draw(images * height * width * spec.in_channels)};
}

// The filter and bias are freed before the convolution runs.
FloatConv2d Make(const Problem& problem, const FloatRow& row) {
  const GuardedBuffer<float> filter{std::span<const float>(problem.filter)};
  const GuardedBuffer<float> bias{std::span<const float>(problem.bias)};
  return FloatConv2d(problem.spec, filter.data(), bias.data(), problem.range, row);
}

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Cuts `count` into ranges of up to `most` each, in random order.
Ranges Cut(Random& random, int64_t count, int64_t most) {
  Ranges ranges;
  for (int64_t first = 0; first < count;) {
    const int64_t last = std::min(first + random.Int(1, most), count);
    ranges.push_back({first, last});
    first = last;
  }
  for (size_t i = 1; i < ranges.size(); ++i) {
    std::swap(ranges[i], ranges[static_cast<size_t>(random.Int(0, static_cast<int64_t>(i)))]);
  }
  return ranges;
}

class FloatConv2dTest : public testing::RowTest<FloatRow> {
 protected:
  // Runs pieces of up to `most_pixels` pixels and `most_blocks` blocks of channels, each with
  // buffers at an inaccessible page. Compares one of `one_in` outputs.
  void ExpectExact(const Problem& problem, int64_t most_pixels, int64_t most_blocks,
                   Guard guard = Guard::kAfter, size_t one_in = 1) {
    const FloatConv2dSpec& spec = problem.spec;
    const auto channels = static_cast<size_t>(spec.out_channels);
    FloatConv2d conv = Make(problem, GetParam());
    EXPECT_STREQ(conv.kernel(), GetParam().name);
    conv.Resize(problem.height, problem.width);
    const std::span<const float> image(problem.input);
    const GuardedBuffer<float> input(image, guard);
    GuardedBuffer<std::byte> scratch(RoundUp(conv.scratch_bytes(), kBufferAlignment));
    for (const auto& [first, last] : Cut(random_, problem.pixels(), most_pixels)) {
      const auto pixels = static_cast<size_t>(last - first);
      GuardedBuffer<float> output(pixels * channels, guard);
      std::fill_n(output.data(), output.size(), kCanary);
      for (const auto& [first_block, last_block] :
           Cut(random_, conv.channel_blocks(), most_blocks)) {
        if (spec.is_pixelwise()) {
          const auto of_pixel = static_cast<size_t>(spec.in_channels);
          const GuardedBuffer<float> piece(
              image.subspan(static_cast<size_t>(first) * of_pixel, pixels * of_pixel), guard);
          conv.Run(piece.data(), first, last, first_block, last_block, scratch.data(),
                   output.data());
        } else {
          conv.Run(input.data(), first, last, first_block, last_block, scratch.data(),
                   output.data());
        }
      }
      for (size_t at = 0; at < output.size(); at += one_in) {
        const int64_t pixel = first + static_cast<int64_t>(at / channels);
        const auto channel = static_cast<int64_t>(at % channels);
        const float expected = problem.Expected(pixel, channel);
        ASSERT_TRUE(SameFloat(output.data()[at], expected))
            << conv.kernel() << ": " << output.data()[at] << " instead of " << expected
            << " at pixel " << pixel << " channel " << channel << "; " << problem.images
            << " images of " << problem.height << "x" << problem.width << "x" << spec.in_channels
            << ", filters " << spec.window.height.taps << "x" << spec.window.width.taps
            << " strides " << spec.window.height.stride << "x" << spec.window.width.stride
            << " dilation " << spec.window.height.dilation << "x" << spec.window.width.dilation
            << (spec.window.height.padding.same ? " SAME " : " VALID ") << spec.groups << " groups"
            << (spec.is_depthwise ? " depthwise" : "");
      }
    }
  }

  // Runs filters and strides one by one, with sizes drawn from those that matter. `complete` sets
  // the numbers of channels. A few places of the image have special values.
  template <typename Function>
  void ExpectExactForFilters(Function complete) {
    constexpr std::pair<int64_t, int64_t> kFilters[] = {{1, 1}, {1, 3}, {3, 1}, {2, 2}, {3, 3},
                                                        {5, 5}, {1, 7}, {7, 7}, {4, 6}};
    constexpr int64_t kWidths[] = {7, 8, 20, 47, 48, 49, 60, 101};
    constexpr float kSpecial[] = {-0.0f, 0x1p-140f, 0x1p100f, kInfinity, -kInfinity};
    for (const auto& [filter_height, filter_width] : kFilters) {
      for (int64_t stride_height = 1; stride_height <= 3; ++stride_height) {
        for (int64_t stride_width = 1; stride_width <= 3; ++stride_width) {
          for (bool same : {false, true}) {
            FloatConv2dSpec spec = {.window = {.height = {.taps = filter_height,
                                                          .stride = stride_height,
                                                          .padding = {.same = same}},
                                               .width = {.taps = filter_width,
                                                         .stride = stride_width,
                                                         .padding = {.same = same}}}};
            const int64_t width = AnyOf(kWidths);
            complete(spec, kMostProducts / (2 * 8 * width * filter_height * filter_width) + 1);
            Problem problem = Draw(random_, spec, 2, random_.Int(7, 8), width);
            if (random_.Int(0, 3) == 0) {
              for (float special : kSpecial) {
                const int64_t at = random_.Int(0, std::ssize(problem.input) - 1);
                problem.input[static_cast<size_t>(at)] = special;
              }
            }
            const Guard guard = random_.Int(0, 1) == 0 ? Guard::kAfter : Guard::kBefore;
            ExpectExact(problem, random_.Int(1, 300), random_.Int(1, 3), guard);
          }
        }
      }
    }
  }

  template <size_t kCount>
  int64_t AnyOf(const int64_t (&values)[kCount]) {
    return values[random_.Int(0, kCount - 1)];
  }

  // The approximate most products of a layer; emulated, a test takes seconds.
  static constexpr int64_t kMostProducts = 150'000;
};

constexpr int64_t kChannels[] = {1, 3, 7, 8, 16, 33, 64};

TEST_P(FloatConv2dTest, AnyLayer) {
  ExpectExactForFilters([&](FloatConv2dSpec& spec, int64_t products) {
    spec.in_channels = AnyOf(kChannels);
    spec.out_channels = std::clamp<int64_t>(products / spec.in_channels, 1, random_.Int(1, 200));
  });
}

TEST_P(FloatConv2dTest, Depthwise) {
  ExpectExactForFilters([&](FloatConv2dSpec& spec, int64_t) {
    spec.is_depthwise = true;
    spec.in_channels = spec.out_channels = AnyOf(kChannels);
  });
}

TEST_P(FloatConv2dTest, Groups) {
  for (int64_t groups : {2, 4}) {
    ExpectExactForFilters([&](FloatConv2dSpec& spec, int64_t products) {
      const int64_t channels = AnyOf({1, 2, 3, 7, 8, 16});
      spec.groups = groups;
      spec.in_channels = groups * channels;
      spec.out_channels =
          groups * std::clamp<int64_t>(products / spec.in_channels, 1, random_.Int(1, 70));
    });
  }
}

TEST_P(FloatConv2dTest, Dilated) {
  for (bool is_depthwise : {false, true}) {
    for (int64_t groups : {1, 2}) {
      if (is_depthwise && groups > 1) continue;
      ExpectExactForFilters([&](FloatConv2dSpec& spec, int64_t products) {
        spec.window.height.dilation = random_.Int(1, 3);
        spec.window.width.dilation = random_.Int(1, 9);
        spec.is_depthwise = is_depthwise;
        spec.groups = groups;
        spec.in_channels = groups * AnyOf({1, 3, 8, 16});
        spec.out_channels = is_depthwise
                                ? spec.in_channels
                                : groups * std::clamp<int64_t>(products / spec.in_channels, 1, 40);
      });
    }
  }
}

// The layers have so many channels that every row has several blocks.
TEST_P(FloatConv2dTest, BlocksOfChannels) {
  for (int64_t taps : {1, 3}) {
    for (int64_t out_channels : {128, 130, 193}) {
      const FloatConv2dSpec spec = {
          .in_channels = 64,
          .out_channels = out_channels,
          .window = SquareWindow({.taps = taps, .padding = {.same = true}})};
      const Problem problem = Draw(random_, spec, 2, 3, 5);
      ASSERT_GT(Make(problem, GetParam()).channel_blocks(), 1);
      for (int64_t most_blocks : {1, 2, 100}) ExpectExact(problem, 17, most_blocks);
    }
  }
}

// These filters take more than 2 MB, and each image has more pixels than are computed at once. In a
// long line tiles end where the line's inner pixels end. Every 13th output is compared: there are
// some of each of the 67 channels and of each pixel.
TEST_P(FloatConv2dTest, LargeFilters) {
  for (const auto& [taps, height, width] : {std::array{1, 8, 8}, std::array{3, 1, 64}}) {
    const FloatConv2dSpec spec = {
        .in_channels = 8200 / (taps * taps),
        .out_channels = 67,
        .window = SquareWindow({.taps = taps, .padding = {.same = true}})};
    const Problem problem = Draw(random_, spec, 1, height, width);
    const int64_t at_once = Make(problem, GetParam()).tile_pixels();
    ASSERT_GT(at_once, static_cast<int64_t>(kFloatPixels));
    ASSERT_LT(at_once, problem.pixels());
    ExpectExact(problem, 1000, 2, Guard::kAfter, 13);
  }
}

// No window lies inside the image; there are short lines and long ones.
TEST_P(FloatConv2dTest, ImagesThatAreSmallerThanFilters) {
  for (bool is_depthwise : {false, true}) {
    FloatConv2dSpec spec = {.is_depthwise = is_depthwise,
                            .in_channels = 5,
                            .out_channels = 5,
                            .window = SquareWindow({.taps = 7, .padding = {.same = true}})};
    for (int64_t height : {1, 2, 6}) {
      for (int64_t width : {1, 2, 6, 50}) ExpectExact(Draw(random_, spec, 2, height, width), 30, 1);
    }
    spec.window.width.taps = 75;
    spec.window.height.taps = 1;
    ExpectExact(Draw(random_, spec, 2, 3, 60), 100, 1);
  }
}

TEST_P(FloatConv2dTest, NoPixels) {
  const FloatConv2dSpec specs[] = {
      {.in_channels = 3, .out_channels = 5},
      {.in_channels = 3, .out_channels = 5, .window = SquareWindow({.taps = 3})},
      {.is_depthwise = true,
       .in_channels = 3,
       .out_channels = 3,
       .window = {.width = {.taps = 4}}}};
  for (const FloatConv2dSpec& spec : specs) {
    FloatConv2d conv = Make(Draw(random_, spec, 1, 1, 1), GetParam());
    for (int64_t size : {0, 1}) {
      conv.Resize(size, size);
      GuardedBuffer<std::byte> scratch(RoundUp(conv.scratch_bytes(), kBufferAlignment));
      conv.Run(nullptr, 0, 0, 0, conv.channel_blocks(), scratch.data(), nullptr);
    }
  }
}

// A convolution that was set up for a large image computes a small one, and the other way round.
TEST_P(FloatConv2dTest, AnotherSize) {
  const FloatConv2dSpec spec = {
      .in_channels = 6,
      .out_channels = 9,
      .window = {.height = {.taps = 3, .padding = {.same = true}},
                 .width = {.taps = 3, .stride = 2, .padding = {.same = true}}}};
  Problem problem = Draw(random_, spec, 1, 1, 1);
  FloatConv2d conv = Make(problem, GetParam());
  for (int64_t width : {120, 5, 99, 1}) {
    const Problem drawn = Draw(random_, spec, 2, 4, width);
    problem.images = drawn.images;
    problem.height = drawn.height;
    problem.width = drawn.width;
    problem.input = drawn.input;
    conv.Resize(problem.height, problem.width);
    GuardedBuffer<std::byte> scratch(RoundUp(conv.scratch_bytes(), kBufferAlignment));
    std::vector<float> output(static_cast<size_t>(problem.pixels() * spec.out_channels), kCanary);
    conv.Run(problem.input.data(), 0, problem.pixels(), 0, conv.channel_blocks(), scratch.data(),
             output.data());
    for (size_t at = 0; at < output.size(); ++at) {
      const auto pixel = static_cast<int64_t>(at) / spec.out_channels;
      const auto channel = static_cast<int64_t>(at) % spec.out_channels;
      ASSERT_TRUE(SameFloat(output[at], problem.Expected(pixel, channel)))
          << conv.kernel() << " width " << width << " pixel " << pixel << " channel " << channel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, FloatConv2dTest,
                         ::testing::ValuesIn(FloatRows().begin(), FloatRows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace larq_engine
