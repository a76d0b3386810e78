// The kernels of the host's float operators on the emulated GPU: equal to the bit to loops that say
// what their arguments promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixel_rows.h"
#include "larq_engine/kernels/cuda/pixels_args.h"
#include "larq_engine/kernels/window.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/cuda/emulated_kernels.h"

namespace larq_engine::testing {
namespace {

using cuda::ImageWindow;
using cuda::PixelStep;
using Options = emulated_gpu::Options;

// Threads of the system are slow.
#ifdef __SANITIZE_THREAD__
constexpr int kCases = 2;
constexpr int kMostInTile = 5;  // more than a tile only where all are fibers
#else
constexpr int kCases = 30;
constexpr int kMostInTile = 70;
#endif

// Zeros of both signs, denormals and large values among them.
std::vector<float> RandomFloats(std::mt19937& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    switch (random() % 16) {
      case 0:
        value = random() % 2 != 0 ? 0.0f : -0.0f;
        break;
      case 1:
        value = 1e-39f * static_cast<float>(random() % 9) - 4e-39f;
        break;
      case 2:
        value = std::ldexp(static_cast<float>(random() % 2001) - 1000.0f, 10);
        break;
      default:
        value = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;
    }
  }
  return values;
}

int Between(std::mt19937& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
}

Options RandomOptions(std::mt19937& random) {
  return {.order = static_cast<Options::Order>(random() % 5),
          .seed = random(),
          .early_copies = random() % 2 != 0};
}

void Launch(const char* name, const void* args, int64_t blocks, const Options& options,
            size_t shared_bytes = 0) {
  const EmulatedKernel* kernel = FindEmulatedKernel(name);
  ASSERT_NE(kernel, nullptr) << name;
  LaunchEmulated(*kernel, args, {static_cast<unsigned>(blocks)}, {kernel->threads}, shared_bytes,
                 options);
}

// Blocks of 128 threads in which each thread has an item, or each warp 32 channels of a pixel.
int64_t BlocksOfThreads(int64_t items) { return (items + 127) / 128; }
int64_t BlocksOfWarps(int64_t pixels, int64_t channels) {
  return BlocksOfThreads(pixels * ((channels + 31) / 32) * 32);
}

std::string Describe(const ImageWindow& w) {
  std::string text;
  for (int32_t value :
       {w.batch, w.in_height, w.in_width, w.channels, w.out_height.value, w.out_width.value,
        w.filter_height, w.filter_width, w.stride_height, w.stride_width, w.pad_top, w.pad_left}) {
    text += (text.empty() ? "" : " ") + std::to_string(value);
  }
  return text;
}

ImageWindow MakeWindow(int batch, int in_height, int in_width, int channels, int filter_height,
                       int filter_width, int stride_height, int stride_width, bool same) {
  const WindowAxis height =
      MakeWindowAxis(in_height, filter_height, stride_height, 1, {.same = same});
  const WindowAxis width = MakeWindowAxis(in_width, filter_width, stride_width, 1, {.same = same});
  return {batch,
          in_height,
          in_width,
          channels,
          cuda::MakeDivisor(int(height.out)),
          cuda::MakeDivisor(int(width.out)),
          filter_height,
          filter_width,
          stride_height,
          stride_width,
          int(height.pad_before),
          int(width.pad_before)};
}

// As many as several may be read at once of, every other time.
int ManyChannels(std::mt19937& random, int most) {
  return random() % 2 != 0 ? 4 * Between(random, 1, most / 4) : Between(random, 1, most);
}

ImageWindow RandomWindow(std::mt19937& random, int most_channels) {
  const int filter_height = Between(random, 1, 4);
  const int filter_width = Between(random, 1, 4);
  return MakeWindow(Between(random, 1, 3), filter_height + Between(random, 0, 7),
                    filter_width + Between(random, 0, 7), ManyChannels(random, most_channels),
                    filter_height, filter_width, Between(random, 1, 3), Between(random, 1, 3),
                    random() % 2 != 0);
}

ImageWindow SquareWindow(std::mt19937& random, int filter, int most_channels) {
  return MakeWindow(Between(random, 1, 3), filter + Between(random, 0, 7),
                    filter + Between(random, 0, 7), ManyChannels(random, most_channels), filter,
                    filter, Between(random, 1, 3), Between(random, 1, 3), random() % 2 != 0);
}

size_t OutPixels(const ImageWindow& w) {
  return static_cast<size_t>(w.batch) * w.out_height.value * w.out_width.value;
}

size_t InValues(const ImageWindow& w) {
  return static_cast<size_t>(w.batch) * w.in_height * w.in_width * w.channels;
}

// The value of a channel that a tap is, 0 outside.
float TapOr0(const ImageWindow& w, const std::vector<float>& image, size_t pixel, int ty, int tx,
             int channel, bool* inside = nullptr) {
  const int x = int(pixel % w.out_width.value) * w.stride_width - w.pad_left + tx;
  const int y =
      int(pixel / w.out_width.value % w.out_height.value) * w.stride_height - w.pad_top + ty;
  const size_t n = pixel / w.out_width.value / w.out_height.value;
  const bool is_inside = y >= 0 && y < w.in_height && x >= 0 && x < w.in_width;
  if (inside != nullptr) *inside = is_inside;
  if (!is_inside) return 0;
  return image[((n * w.in_height + y) * w.in_width + x) * w.channels + channel];
}

// What follows in all tests: a bias a channel, clamps, a store, and signs.
struct Tail {
  std::vector<float> bias;
  GuardedBuffer<float> bias_memory;
  GuardedBuffer<float> floats;
  GuardedBuffer<uint32_t> bits;

  Tail(std::mt19937& random, size_t pixels, size_t channels)
      : bias(RandomFloats(random, channels)),
        bias_memory(bias),
        floats(pixels * channels),
        bits(pixels * ((channels + 31) / 32)) {}

  cuda::PixelProgram Program() {
    cuda::PixelProgram program{};
    PixelStep add{};
    add.kind = PixelStep::kAddChannels;
    add.min = -3.0f;
    add.max = 1e6f;
    add.values = bias_memory.data();
    PixelStep store{};
    store.kind = PixelStep::kStore;
    store.out = floats.data();
    program.count = 2;
    program.steps[0] = add;
    program.steps[1] = store;
    program.bits = bits.data();
    return program;
  }

  void Expect(const std::vector<float>& sums, const std::string& what, bool has_bits = true) const {
    const size_t channels = bias.size();
    std::vector<float> expected(sums.size());
    std::vector<uint32_t> signs(bits.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const float y = sums[i] + bias[i % channels];
      expected[i] = std::min(std::max(y, -3.0f), 1e6f);
      if (expected[i] < 0) {
        signs[i / channels * ((channels + 31) / 32) + i % channels / 32] |= 1u << i % channels % 32;
      }
    }
    ASSERT_EQ(std::memcmp(expected.data(), floats.data(), expected.size() * 4), 0) << what;
    if (!has_bits) return;
    ASSERT_EQ(std::memcmp(signs.data(), bits.data(), signs.size() * 4), 0) << what;
  }
};

template <class Args>
cuda::PixelProgram& ProgramOf(Args& args) {
  return args.program;
}
cuda::PixelProgram& ProgramOf(cuda::PooledDepthwiseArgs& args) { return args.conv.program; }

// Each of the rows that compute it gives these values, of which some have only bits, and some only
// floats.
template <class Args>
void TestRows(std::mt19937& random, std::span<const cuda::PixelRow> rows, Args args,
              size_t channels, const std::vector<float>& values, const std::string& what) {
  for (const cuda::PixelRow& row : rows) {
    if (!cuda::Takes(row, args)) continue;
    for (const bool has_bits : {false, true}) {
      Tail tail(random, values.size() / channels, channels);
      cuda::PixelProgram& program = ProgramOf(args);
      program = tail.Program();
      if (!has_bits) program.bits = nullptr;
      const cuda::LaunchSize size = cuda::Prepare(row, args);
      const char* name = cuda::RowOf(row.kernel).name;
      Launch(name, &args, size.blocks, RandomOptions(random));
      tail.Expect(values, std::string(name) + ": " + what, has_bits);
    }
  }
}

// The filter as Conv2dArgs wants it.
std::vector<float> PadRows(const std::vector<float>& filter, size_t depth, size_t row) {
  std::vector<float> padded(filter.size() / depth * row, -0.0f);
  for (size_t n = 0; n < filter.size() / depth; ++n) {
    std::copy_n(filter.data() + n * depth, depth, padded.data() + n * row);
  }
  return padded;
}

// What is read 16 bytes at a time begins where that is allowed.
Guard GuardFor(size_t values) { return values % 4 == 0 ? Guard::kAfter : Guard::kBefore; }

void TestConv(std::mt19937& random, const ImageWindow& w, int out_channels) {
  const size_t depth = static_cast<size_t>(w.filter_height) * w.filter_width * w.channels;
  const size_t row = (depth + cuda::kConvStep - 1) / cuda::kConvStep * cuda::kConvStep;
  const std::vector<float> image = RandomFloats(random, InValues(w));
  const std::vector<float> filter = RandomFloats(random, depth * out_channels);
  std::vector<float> sums;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    for (int n = 0; n < out_channels; ++n) {
      float sum = 0;
      const float* weight = filter.data() + n * depth;
      for (int ty = 0; ty < w.filter_height; ++ty) {
        for (int tx = 0; tx < w.filter_width; ++tx) {
          for (int c = 0; c < w.channels; ++c) {
            sum = std::fma(TapOr0(w, image, pixel, ty, tx, c), *weight++, sum);
          }
        }
      }
      sums.push_back(sum);
    }
  }
  const GuardedBuffer<float> image_memory(image, GuardFor(image.size()));
  const GuardedBuffer<float> filter_memory(PadRows(filter, depth, row));
  for (const cuda::Conv2dRow& kernel : cuda::Conv2dRows()) {
    Tail tail(random, OutPixels(w), static_cast<size_t>(out_channels));
    cuda::Conv2dArgs args{};
    args.image = image_memory.data();
    args.filter = filter_memory.data();
    args.filter_row = static_cast<int32_t>(row);
    args.out_channels = out_channels;
    args.window = w;
    args.line = cuda::MakeDivisor(w.filter_width * w.channels);
    args.channel_tiles = cuda::MakeDivisor(kernel.channel_tiles(args));
    args.program = tail.Program();
    const cuda::LaunchSize size = kernel.size(args);
    const char* name = cuda::RowOf(kernel.kernel).name;
    Launch(name, &args, size.blocks, RandomOptions(random), size.shared_bytes);
    tail.Expect(sums,
                std::string(name) + ": " + Describe(w) + " to " + std::to_string(out_channels));
  }
}

TEST(Conv2d, SumsInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < (kCases + 1) / 2; ++i) {
    TestConv(random, RandomWindow(random, 9), Between(random, 1, kMostInTile));
  }
}

TEST(Conv2d, OfPixels) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (const int channels : {1, 16, 20, 64, 67}) {
    if (channels > kMostInTile) break;
    TestConv(random, MakeWindow(2, 5, 7, channels, 1, 1, 1, 1, true), 33);
  }
}

// More stages than steps, and as many.
TEST(Conv2d, OfAllDepths) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int depth = 1; depth <= 160; depth += Between(random, 7, 19) * 30 / kCases) {
    TestConv(random, MakeWindow(3, 1, 1, depth, 1, 1, 1, 1, false), 5);
  }
}

TEST(Conv2d, TilesFillTheChip) {
  cuda::Conv2dArgs args{};
  args.window = MakeWindow(64, 56, 56, 64, 1, 1, 1, 1, true);
  args.out_channels = 128;
  const cuda::Chip chip{90, 132};
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_64x64);
  args.out_channels = 16;
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_128x32);
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_64x64);
  args.window.batch = 1;
  EXPECT_EQ(cuda::SelectConv2d(args, chip).kernel, cuda::KernelId::conv2d_32x32);
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_32x32);
  // Two small tiles would compute the depthwise convolution twice.
  args.out_channels = 64;
  EXPECT_EQ(cuda::SelectDepthwisePointwise(args, chip).kernel,
            cuda::KernelId::depthwise_pointwise_64x64);
}

// An output channel comes from channel / multiplier of the image.
std::vector<float> SumsOfChannels(const ImageWindow& w, const std::vector<float>& image,
                                  const std::vector<float>& filter, int multiplier) {
  const int out_channels = w.channels * multiplier;
  std::vector<float> sums;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    for (int n = 0; n < out_channels; ++n) {
      float sum = 0;
      for (int tap = 0; tap < w.filter_height * w.filter_width; ++tap) {
        sum = std::fma(
            TapOr0(w, image, pixel, tap / w.filter_width, tap % w.filter_width, n / multiplier),
            filter[tap * out_channels + n], sum);
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

TEST(DepthwiseConv2d, SumsInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const ImageWindow w = i % 3 == 0 ? SquareWindow(random, 3, 40) : RandomWindow(random, 40);
    const int multiplier = i % 2 == 0 ? 1 : Between(random, 2, 3);
    const int out_channels = w.channels * multiplier;
    const std::vector<float> image = RandomFloats(random, InValues(w));
    const std::vector<float> filter =
        RandomFloats(random, static_cast<size_t>(w.filter_height) * w.filter_width * out_channels);
    const GuardedBuffer<float> image_memory(image);
    const GuardedBuffer<float> filter_memory(filter);
    cuda::DepthwiseArgs args{};
    args.image = image_memory.data();
    args.filter = filter_memory.data();
    args.out_channels = out_channels;
    args.multiplier = cuda::MakeDivisor(multiplier);
    args.window = w;
    TestRows(random, cuda::DepthwiseRows(), args, static_cast<size_t>(out_channels),
             SumsOfChannels(w, image, filter, multiplier), Describe(w));
  }
}

// Bias and clamp lie between the sums of both.
TEST(DepthwisePointwise, SumsInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < (kCases + 1) / 2; ++i) {
    ImageWindow w = SquareWindow(random, 3, 40);
    if (w.channels % 4 != 0) {
      w = MakeWindow(w.batch, w.in_height, w.in_width, 4 * w.channels, 3, 3, w.stride_height,
                     w.stride_width, w.pad_top > 0);
    }
    const ImageWindow pixels =
        MakeWindow(w.batch, w.out_height.value, w.out_width.value, w.channels, 1, 1, 1, 1, true);
    const int out_channels = Between(random, 1, std::min(kMostInTile, 64));
    const auto depth = static_cast<size_t>(w.channels);
    const size_t row = (depth + cuda::kConvStep - 1) / cuda::kConvStep * cuda::kConvStep;
    const std::vector<float> image = RandomFloats(random, InValues(w));
    const std::vector<float> taps = RandomFloats(random, 9 * depth);
    const std::vector<float> weights =
        RandomFloats(random, depth * static_cast<size_t>(out_channels));
    const std::vector<float> bias = RandomFloats(random, depth);
    std::vector<float> between = SumsOfChannels(w, image, taps, 1);
    for (size_t k = 0; k < between.size(); ++k) {
      between[k] = std::min(std::max(between[k] + bias[k % depth], -0.5f), 2.0f);
    }
    std::vector<float> sums;
    for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
      for (int n = 0; n < out_channels; ++n) {
        float sum = 0;
        for (size_t c = 0; c < depth; ++c) {
          sum = std::fma(between[pixel * depth + c], weights[n * depth + c], sum);
        }
        sums.push_back(sum);
      }
    }
    const GuardedBuffer<float> image_memory(image);
    const GuardedBuffer<float> taps_memory(taps);
    const GuardedBuffer<float> bias_memory(bias);
    const GuardedBuffer<float> weights_memory(PadRows(weights, depth, row));
    cuda::DepthwisePointwiseArgs args{};
    args.depthwise.image = image_memory.data();
    args.depthwise.filter = taps_memory.data();
    args.depthwise.out_channels = w.channels;
    args.depthwise.multiplier = cuda::MakeDivisor(1);
    args.depthwise.window = w;
    args.depthwise.program.count = 1;
    args.depthwise.program.steps[0] = {.kind = PixelStep::kAddChannels,
                                       .min = -0.5f,
                                       .max = 2.0f,
                                       .values = bias_memory.data(),
                                       .out = nullptr};
    args.pointwise.filter = weights_memory.data();
    args.pointwise.filter_row = static_cast<int32_t>(row);
    args.pointwise.out_channels = out_channels;
    args.pointwise.window = pixels;
    ASSERT_TRUE(cuda::TakesDepthwisePointwise(args.depthwise, args.pointwise));
    for (const cuda::Conv2dRow& kernel : cuda::DepthwisePointwiseRows()) {
      Tail tail(random, OutPixels(w), static_cast<size_t>(out_channels));
      args.pointwise.channel_tiles = cuda::MakeDivisor(kernel.channel_tiles(args.pointwise));
      args.pointwise.program = tail.Program();
      const cuda::LaunchSize size = kernel.size(args.pointwise);
      const char* name = cuda::RowOf(kernel.kernel).name;
      Launch(name, &args, size.blocks, RandomOptions(random), size.shared_bytes);
      tail.Expect(sums,
                  std::string(name) + ": " + Describe(w) + " to " + std::to_string(out_channels));
    }
  }
}

// Inputs are read four at a time only where that is allowed: else memory ends with the last one.
// The outputs of a warp may be fewer than 32.
TEST(SignedDense, SumsFoursInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const int rows = Between(random, 1, 9), units = Between(random, 1, 70);
    const int depth = Between(random, 1, 30) * (i % 2 == 0 ? 4 : 1) + Between(random, 0, 1) * 64;
    const size_t lanes = static_cast<size_t>((units + 31) / 32 * 32);
    const std::vector<float> in = RandomFloats(random, static_cast<size_t>(rows * depth));
    const std::vector<float> scale = RandomFloats(random, static_cast<size_t>(units));
    std::vector<uint32_t> signs(static_cast<size_t>((depth + 31) / 32) * lanes);
    std::vector<float> sums;
    for (uint32_t& word : signs) word = random();
    for (int row = 0; row < rows; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        float sum = 0;
        for (int first = 0; first < depth; first += 4) {
          float four = 0;
          for (int d = first; d < first + 4; ++d) {
            const bool is_minus = signs[d / 32 * lanes + unit] >> d % 32 & 1;
            const float x = d < depth ? in[static_cast<size_t>(row * depth + d)] : 0.0f;
            const float value = is_minus ? -x : x;
            four = d == first ? value : four + value;
          }
          sum += four;
        }
        sums.push_back(sum * scale[static_cast<size_t>(unit)]);
      }
    }
    const GuardedBuffer<float> in_memory(in, depth % 4 == 0 ? GuardFor(in.size()) : Guard::kAfter);
    const GuardedBuffer<uint32_t> sign_memory(signs);
    const GuardedBuffer<float> scale_memory(scale);
    Tail tail(random, static_cast<size_t>(rows), static_cast<size_t>(units));
    const cuda::SignedDenseArgs args = {.in = in_memory.data(),
                                        .signs = sign_memory.data(),
                                        .scale = scale_memory.data(),
                                        .rows = rows,
                                        .depth = depth,
                                        .units = units,
                                        .program = tail.Program()};
    Launch("signed_dense", &args, BlocksOfWarps((rows + 3) / 4, units), RandomOptions(random));
    tail.Expect(sums, std::to_string(rows) + " rows of " + std::to_string(depth) + " to " +
                          std::to_string(units));
  }
}

// Sums that wrap, and halves, which are rounded to even.
TEST(SignedDense, OfInt8) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const int rows = Between(random, 1, 9), units = Between(random, 1, 70);
    const int depth = Between(random, 1, 30) * (i % 2 == 0 ? 4 : 1) + Between(random, 0, 1) * 64;
    const size_t lanes = static_cast<size_t>((units + 31) / 32 * 32);
    std::vector<int8_t> in(static_cast<size_t>(rows * depth));
    for (int8_t& value : in) value = static_cast<int8_t>(random());
    std::vector<uint32_t> signs(static_cast<size_t>((depth + 31) / 32) * lanes);
    for (uint32_t& word : signs) word = random();
    std::vector<int32_t> weight, bias;
    std::vector<float> multiplier;
    for (int unit = 0; unit < units; ++unit) {
      const bool wraps = unit % 5 == 0;
      weight.push_back(wraps ? static_cast<int32_t>(random()) : Between(random, -127, 127));
      bias.push_back(wraps ? static_cast<int32_t>(random()) : Between(random, -9999, 9999));
      multiplier.push_back(std::ldexp(1.0f, wraps ? -25 : Between(random, -12, -1)));
    }
    const int zero_point = Between(random, -128, 127);
    const float min = static_cast<float>(-128 - zero_point);
    const float max = static_cast<float>(127 - zero_point);
    std::vector<int8_t> expected;
    for (int row = 0; row < rows; ++row) {
      for (int unit = 0; unit < units; ++unit) {
        const auto u = static_cast<size_t>(unit);
        int64_t sum = 0;
        for (int d = 0; d < depth; ++d) {
          const int x = in[static_cast<size_t>(row * depth + d)];
          sum += signs[d / 32 * lanes + u] >> d % 32 & 1 ? -x : x;
        }
        const auto total = static_cast<int32_t>(static_cast<uint64_t>(sum * weight[u] + bias[u]));
        const float y = std::nearbyint(static_cast<float>(total) * multiplier[u]);
        expected.push_back(
            static_cast<int8_t>(static_cast<int>(std::clamp(y, min, max)) + zero_point));
      }
    }
    const GuardedBuffer<int8_t> in_memory(in, depth % 4 == 0 ? GuardFor(in.size()) : Guard::kAfter);
    const GuardedBuffer<uint32_t> sign_memory(signs);
    const GuardedBuffer<int32_t> weight_memory(weight), bias_memory(bias);
    const GuardedBuffer<float> multiplier_memory(multiplier);
    GuardedBuffer<int8_t> out(expected.size());
    const cuda::SignedDenseInt8Args args = {.in = in_memory.data(),
                                            .signs = sign_memory.data(),
                                            .weight = weight_memory.data(),
                                            .bias = bias_memory.data(),
                                            .multiplier = multiplier_memory.data(),
                                            .min = min,
                                            .max = max,
                                            .zero_point = zero_point,
                                            .rows = rows,
                                            .depth = depth,
                                            .units = units,
                                            .out = out.data()};
    Launch("signed_dense_int8", &args, BlocksOfWarps((rows + 3) / 4, units), RandomOptions(random));
    ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size()), 0)
        << rows << " rows of " << depth << " to " << units;
  }
}

// With what is no number, and zeros of both signs next to each other.
std::vector<float> FloatsToPool(std::mt19937& random, size_t count) {
  std::vector<float> values = RandomFloats(random, count);
  const bool none_is_greater_than_0 = random() % 2 != 0;
  for (float& value : values) {
    if (random() % 16 == 0) value = std::numeric_limits<float>::quiet_NaN();
    if (random() % 4 == 0) value = random() % 2 != 0 ? 0.0f : -0.0f;
    if (none_is_greater_than_0 && value > 0) value = -value;
  }
  return values;
}

// What is no number is taken where it comes first, and of zeros that which does.
std::vector<float> Greatest(const ImageWindow& w, const std::vector<float>& image) {
  std::vector<float> greatest;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    for (int c = 0; c < w.channels; ++c) {
      float most = 0;
      bool is_first = true;
      for (int tap = 0; tap < w.filter_height * w.filter_width; ++tap) {
        bool inside;
        const float value =
            TapOr0(w, image, pixel, tap / w.filter_width, tap % w.filter_width, c, &inside);
        if (!inside) continue;
        most = is_first || value > most ? value : most;
        is_first = false;
      }
      greatest.push_back(most);
    }
  }
  return greatest;
}

TEST(MaxPoolFloats, GreatestInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const ImageWindow w =
        i % 2 == 0 ? SquareWindow(random, Between(random, 2, 3), 70) : RandomWindow(random, 70);
    const std::vector<float> image = FloatsToPool(random, InValues(w));
    const GuardedBuffer<float> memory(image);
    cuda::PoolArgs args{};
    args.floats = memory.data();
    args.window = w;
    TestRows(random, cuda::MaxPoolRows(), args, static_cast<size_t>(w.channels), Greatest(w, image),
             Describe(w));
  }
}

TEST(PooledDepthwise, SumsOfGreatest) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const int filter_size = Between(random, 2, 3);
    const int height = Between(random, 1, 8) + 2 + filter_size;
    const int width = Between(random, 1, 8) + 2 + filter_size;
    const int channels = 4 * Between(random, 1, 17);
    const ImageWindow pool = MakeWindow(Between(random, 1, 3), height, width, channels, filter_size,
                                        filter_size, 1, 1, random() % 2 != 0);
    const ImageWindow w =
        MakeWindow(pool.batch, pool.out_height.value, pool.out_width.value, channels, 3, 3,
                   Between(random, 1, 2), Between(random, 1, 2), random() % 2 != 0);
    const std::vector<float> image = FloatsToPool(random, InValues(pool));
    const std::vector<float> filter = RandomFloats(random, static_cast<size_t>(9 * channels));
    const GuardedBuffer<float> image_memory(image);
    const GuardedBuffer<float> filter_memory(filter);
    cuda::PooledDepthwiseArgs args{};
    args.pool = pool;
    args.conv.image = image_memory.data();
    args.conv.filter = filter_memory.data();
    args.conv.out_channels = channels;
    args.conv.multiplier = cuda::MakeDivisor(1);
    args.conv.window = w;
    ASSERT_NE(cuda::FindPixelRow(cuda::PooledDepthwiseRows(), args), nullptr);
    TestRows(random, cuda::PooledDepthwiseRows(), args, static_cast<size_t>(channels),
             SumsOfChannels(w, Greatest(pool, image), filter, 1),
             Describe(pool) + ", " + Describe(w));
  }
}

// Of every third a window is a whole image, which is summed in parts of 16 pixels.
TEST(AveragePool, OfWhatIsInside) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const bool is_image = i % 3 == 0;
    const int height = Between(random, 1, 9), width = Between(random, 1, 9);
    const ImageWindow w =
        is_image ? MakeWindow(Between(random, 1, 3), height, width, ManyChannels(random, 70),
                              height + i % 2 * 4, width + i % 2 * 4, height, width, i % 2 != 0)
                 : RandomWindow(random, 70);
    const std::vector<float> image = RandomFloats(random, InValues(w));
    std::vector<float> means;
    for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
      for (int c = 0; c < w.channels; ++c) {
        std::vector<float> taps;
        for (int tap = 0; tap < w.filter_height * w.filter_width; ++tap) {
          bool inside;
          const float value =
              TapOr0(w, image, pixel, tap / w.filter_width, tap % w.filter_width, c, &inside);
          if (inside) taps.push_back(value);
        }
        ASSERT_TRUE(!is_image || taps.size() == static_cast<size_t>(height * width));
        float sum = 0;
        const size_t part = is_image ? 16 : taps.size();
        for (size_t first = 0; first < taps.size(); first += part) {
          float sum_of_part = 0;
          for (size_t tap = first; tap < std::min(first + part, taps.size()); ++tap) {
            sum_of_part += taps[tap];
          }
          sum += sum_of_part;
        }
        means.push_back(sum / static_cast<float>(taps.size()));
      }
    }
    const GuardedBuffer<float> memory(image);
    cuda::PoolArgs args{};
    args.floats = memory.data();
    args.window = w;
    TestRows(random, cuda::AveragePoolRows(), args, static_cast<size_t>(w.channels), means,
             Describe(w));
  }
}

// The sum as the kernel says it: each lane's, then pairs.
TEST(Softmax, SumsInOrder) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (const int count : {1, 5, 31, 32, 33, 100, 1000}) {
    const int rows = Between(random, 1, 6);
    const float beta = random() % 2 != 0 ? 1.0f : 0.25f;
    std::vector<float> in(static_cast<size_t>(rows * count));
    for (float& value : in) value = static_cast<float>(random() % 2000) / 100.0f - 10.0f;
    std::vector<float> expected;
    for (int row = 0; row < rows; ++row) {
      const float* x = in.data() + row * count;
      const float most = *std::max_element(x, x + count);
      std::vector<float> lanes(32);
      for (int i = 0; i < count; ++i) lanes[i % 32] += std::exp(beta * (x[i] - most));
      for (int distance = 16; distance > 0; distance /= 2) {
        for (int lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
      }
      for (int i = 0; i < count; ++i) {
        expected.push_back(std::exp(beta * (x[i] - most)) / lanes[0]);
      }
    }
    const GuardedBuffer<float> memory(in);
    GuardedBuffer<float> out(in.size());
    const cuda::SoftmaxArgs args = {
        .in = memory.data(), .out = out.data(), .rows = rows, .count = count, .beta = beta};
    Launch("softmax", &args, BlocksOfThreads(rows * 32), RandomOptions(random));
    ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size() * 4), 0) << count;
  }
}

TEST(Pad, PutsAValueAround) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    cuda::PadArgs args{};
    int64_t in_count = 1;
    args.count = 1;
    for (int d = 0; d < cuda::kMaxBoxDims; ++d) {
      const bool is_used = d >= static_cast<int>(random() % 4);
      args.in_dims[d] = is_used ? Between(random, 1, 4) : 1;
      args.before[d] = is_used ? Between(random, 0, 2) : 0;
      const int after = is_used ? Between(random, 0, 2) : 0;
      args.out_dims[d] = cuda::MakeDivisor(args.in_dims[d] + args.before[d] + after);
      in_count *= args.in_dims[d];
      args.count *= args.out_dims[d].value;
    }
    const std::vector<float> in = RandomFloats(random, static_cast<size_t>(in_count));
    const float around = i % 3 == 0 ? 0.0f : RandomFloats(random, 1)[0];
    std::memcpy(&args.around, &around, sizeof(around));
    std::vector<float> expected(static_cast<size_t>(args.count), around);
    for (size_t from = 0; from < in.size(); ++from) {
      size_t rest = from;
      size_t to = 0;
      size_t stride = 1;
      for (int d = cuda::kMaxBoxDims - 1; d >= 0; --d) {
        to += stride * (rest % args.in_dims[d] + args.before[d]);
        rest /= args.in_dims[d];
        stride *= args.out_dims[d].value;
      }
      expected[to] = in[from];
    }
    const GuardedBuffer<float> memory(in);
    GuardedBuffer<float> out(expected.size());
    args.in = memory.data();
    args.out = out.data();
    args.unit_bytes = 4;
    Launch("pad", &args, BlocksOfThreads(args.count), RandomOptions(random));
    ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size() * 4), 0);
  }
}

TEST(Pad, TakesBoxesOut) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    cuda::PadArgs args{};
    args.unit_bytes = i % 2 == 0 ? 1 : 4;
    size_t in_count = 1;
    args.count = 1;
    for (int d = 0; d < cuda::kMaxBoxDims; ++d) {
      args.in_dims[d] = Between(random, 1, 4);
      args.before[d] = -Between(random, 0, args.in_dims[d] - 1);
      args.out_dims[d] = cuda::MakeDivisor(Between(random, 1, args.in_dims[d] + args.before[d]));
      in_count *= static_cast<size_t>(args.in_dims[d]);
      args.count *= args.out_dims[d].value;
    }
    const auto unit = static_cast<size_t>(args.unit_bytes);
    std::vector<uint8_t> in(in_count * unit);
    for (uint8_t& byte : in) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> expected;
    for (size_t from = 0; from < in_count; ++from) {
      size_t rest = from;
      bool inside = true;
      for (int d = cuda::kMaxBoxDims - 1; d >= 0; --d) {
        const auto size = static_cast<size_t>(args.in_dims[d]);
        const int at = static_cast<int>(rest % size) + args.before[d];
        inside = inside && at >= 0 && at < args.out_dims[d].value;
        rest /= size;
      }
      if (inside) expected.insert(expected.end(), &in[from * unit], &in[from * unit] + unit);
    }
    ASSERT_EQ(expected.size(), static_cast<size_t>(args.count) * unit);
    const GuardedBuffer<uint8_t> memory(in);
    GuardedBuffer<uint8_t> out(expected.size());
    args.in = memory.data();
    args.out = out.data();
    Launch("pad", &args, BlocksOfThreads(args.count), RandomOptions(random));
    ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size()), 0);
  }
}

// Limits that are equal, that are alike for all channels, and that no value reaches; zeros of both
// signs, and what is no number.
TEST(Pixels, PlanesOfSeveralBits) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (size_t bits = 1; bits <= kMaxBits; ++bits) {
    const size_t pixels = static_cast<size_t>(Between(random, 1, 9));
    const size_t channels = static_cast<size_t>(ManyChannels(random, 70));
    const size_t words = (channels + 31) / 32;
    const size_t count = (size_t{1} << bits) - 1;
    std::vector<float> limits(count * channels);
    for (size_t c = 0; c < channels; ++c) {
      std::vector<float> own = RandomFloats(random, count);
      if (c % 3 == 0) own[0] = c % 2 == 0 ? kInfinity : -kInfinity;
      std::sort(own.begin(), own.end());
      for (size_t i = 0; i < count; ++i) limits[i * channels + c] = own[i];
    }
    std::vector<float> in = RandomFloats(random, pixels * channels);
    for (float& value : in) {
      if (random() % 4 == 0) value = limits[random() % limits.size()];
      if (random() % 16 == 0) value = std::numeric_limits<float>::quiet_NaN();
    }
    std::vector<uint32_t> expected(pixels * bits * words);
    for (size_t i = 0; i < in.size(); ++i) {
      size_t level = 0;
      for (size_t l = i % channels; l < limits.size(); l += channels) level += !(in[i] < limits[l]);
      for (size_t plane = 0; plane < bits; ++plane) {
        uint32_t& word = expected[(i / channels * bits + plane) * words + i % channels / 32];
        if ((level >> plane) % 2 == 0) word |= 1u << i % channels % 32;
      }
    }
    const GuardedBuffer<float> memory(in);
    const GuardedBuffer<float> limits_memory(limits);
    const std::vector<uint32_t> no_signs(channels);
    const GuardedBuffer<uint32_t> signs(no_signs);
    GuardedBuffer<uint32_t> out(expected.size());
    cuda::PixelsArgs args{};
    args.floats = memory.data();
    args.pixels = static_cast<int64_t>(pixels);
    args.channels = static_cast<int32_t>(channels);
    args.program.planes = static_cast<int32_t>(bits);
    args.program.bits = out.data();
    args.program.limits = limits_memory.data();
    args.program.signs = signs.data();
    for (const cuda::PixelRow& row : cuda::PixelsRows()) {
      if (!cuda::Takes(row, args)) continue;
      std::fill_n(out.data(), out.size(), 0x55555555u);
      const cuda::LaunchSize size = cuda::Prepare(row, args);
      Launch(cuda::RowOf(row.kernel).name, &args, size.blocks, RandomOptions(random));
      ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size() * 4), 0) << bits;
    }
  }
}

TEST(Pixels, OfBytes) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const auto pixels = static_cast<size_t>(Between(random, 1, 9));
    const auto channels = static_cast<size_t>(ManyChannels(random, 70));
    const bool are_signed = i % 2 != 0;
    const int zero_point = Between(random, 0, 255) - (are_signed ? 128 : 0);
    const float scale = static_cast<float>(Between(random, 1, 1000)) / 777.0f;
    std::vector<uint8_t> in(pixels * channels);
    std::vector<float> expected;
    for (uint8_t& byte : in) {
      byte = static_cast<uint8_t>(random());
      const int value = are_signed && byte > 127 ? byte - 256 : byte;
      expected.push_back(static_cast<float>(double{scale} * (value - zero_point)));
    }
    const GuardedBuffer<uint8_t> memory(in);
    cuda::PixelsArgs args{};
    args.bytes = memory.data();
    args.pixels = static_cast<int64_t>(pixels);
    args.channels = static_cast<int32_t>(channels);
    args.bytes_are_signed = are_signed;
    args.zero_point = zero_point;
    args.scale = scale;
    TestRows(random, cuda::PixelsRows(), args, channels, expected,
             std::to_string(pixels) + " pixels of " + std::to_string(channels));
  }
}

TEST(PackBytes, PlanesAreTheirBits) {
  SCOPED_TRACE(ReplayHint());
  std::mt19937 random(static_cast<uint32_t>(TestSeed()));
  for (int i = 0; i < kCases; ++i) {
    const auto pixels = static_cast<size_t>(Between(random, 1, 9));
    const auto channels = static_cast<size_t>(Between(random, 1, 70));
    const size_t words = (channels + 31) / 32;
    std::vector<int8_t> in(pixels * channels);
    std::vector<uint32_t> expected(pixels * 8 * words);
    for (size_t at = 0; at < in.size(); ++at) {
      const auto byte = static_cast<uint8_t>(random());
      in[at] = static_cast<int8_t>(byte);
      for (size_t plane = 0; plane < 8; ++plane) {
        uint32_t& word = expected[(at / channels * 8 + plane) * words + at % channels / 32];
        if ((byte >> plane) % 2 == 0) word |= 1u << at % channels % 32;
      }
    }
    const GuardedBuffer<int8_t> memory(in);
    GuardedBuffer<uint32_t> out(expected.size());
    cuda::PackBytesArgs args{};
    args.in = memory.data();
    args.pixels = static_cast<int64_t>(pixels);
    args.channels = static_cast<int32_t>(channels);
    args.planes = 8;
    args.out = out.data();
    Launch("pack_bytes", &args, BlocksOfWarps(args.pixels, args.channels), RandomOptions(random));
    ASSERT_EQ(std::memcmp(expected.data(), out.data(), expected.size() * 4), 0) << channels;
  }
}

TEST(Pixels, Logistic) {
  const std::vector<float> in = {-200.0f, -3.0f, -0.0f, 0.0f, 1e-3f, 5.0f, 200.0f};
  const GuardedBuffer<float> memory(in);
  GuardedBuffer<float> out(in.size());
  cuda::PixelsArgs args{};
  args.floats = memory.data();
  args.pixels = 1;
  args.channels = static_cast<int32_t>(in.size());
  args.is_logistic = 1;
  args.program.count = 1;
  args.program.steps[0].kind = PixelStep::kStore;
  args.program.steps[0].out = out.data();
  const cuda::LaunchSize size = cuda::Prepare(cuda::PixelsRows().back(), args);
  Launch("pixels", &args, size.blocks, {});
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(out.data()[i], 1.0f / (1.0f + std::exp(-in[i]))) << in[i];
  }
}

}  // namespace
}  // namespace larq_engine::testing
