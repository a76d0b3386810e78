#include "tests/kernels/cuda/floats_case.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "larq_engine/kernels/common/window.h"
#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "tests/kernels/cuda/emulated_case.h"

namespace larq_engine::testing {
namespace {

using cuda::ImageWindow;
using cuda::PixelStep;

std::string Describe(const ImageWindow& w) {
  std::string text;
  for (int32_t value :
       {w.batch, w.in_height, w.in_width, w.channels, w.out_height.value, w.out_width.value,
        w.filter_height, w.filter_width, w.stride_height, w.stride_width, w.pad_top, w.pad_left}) {
    text += (text.empty() ? "" : " ") + std::to_string(value);
  }
  return text;
}

size_t OutPixels(const ImageWindow& w) {
  return static_cast<size_t>(w.batch) * w.out_height.value * w.out_width.value;
}

size_t InValues(const ImageWindow& w) {
  return static_cast<size_t>(w.batch) * w.in_height * w.in_width * w.channels;
}

// A tap of an output pixel. If it is inside, `first` is the place of its first channel in the
// image.
struct Tap {
  int number;  // in the window, line by line
  bool inside;
  size_t first;
};

// Returns all taps of an output pixel, line by line.
std::vector<Tap> TapsOf(const ImageWindow& w, size_t pixel) {
  const int left = int(pixel % w.out_width.value) * w.stride_width - w.pad_left;
  const int top = int(pixel / w.out_width.value % w.out_height.value) * w.stride_height - w.pad_top;
  const size_t image = pixel / w.out_width.value / w.out_height.value;
  std::vector<Tap> taps;
  for (int number = 0; number < w.filter_height * w.filter_width; ++number) {
    const int y = top + number / w.filter_width;
    const int x = left + number % w.filter_width;
    const bool inside = y >= 0 && y < w.in_height && x >= 0 && x < w.in_width;
    const size_t first =
        inside ? ((image * w.in_height + y) * w.in_width + x) * static_cast<size_t>(w.channels) : 0;
    taps.push_back({number, inside, first});
  }
  return taps;
}

// Returns for each output pixel and channel n the sum of the products of the taps' values, which
// are `count` channels of the image from first_channel(n) on, 0 outside, with weight(n, tap,
// channel).
template <class FirstChannel, class Weight>
std::vector<float> SumTaps(const ImageWindow& w, const std::vector<float>& image, int out_channels,
                           int count, const FirstChannel& first_channel, const Weight& weight) {
  std::vector<float> sums;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    const std::vector<Tap> taps = TapsOf(w, pixel);
    for (int n = 0; n < out_channels; ++n) {
      float sum = 0;
      for (const Tap& tap : taps) {
        for (int c = 0; c < count; ++c) {
          const float value = tap.inside ? image[tap.first + first_channel(n) + c] : 0.0f;
          sum = std::fma(value, weight(n, tap.number, c), sum);
        }
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

std::vector<float> Conv2dSums(const ImageWindow& w, const std::vector<float>& image,
                              const std::vector<float>& filter, int out_channels) {
  const int taps = w.filter_height * w.filter_width;
  return SumTaps(
      w, image, out_channels, w.channels, [](int) { return 0; },
      [&](int n, int tap, int c) { return filter[(n * taps + tap) * w.channels + c]; });
}

// Returns the sums of a depthwise convolution, where an output channel n comes from channel n /
// multiplier of the image.
std::vector<float> DepthwiseSums(const ImageWindow& w, const std::vector<float>& image,
                                 const std::vector<float>& filter, int multiplier) {
  const int out_channels = w.channels * multiplier;
  return SumTaps(
      w, image, out_channels, 1, [&](int n) { return n / multiplier; },
      [&](int n, int tap, int) { return filter[tap * out_channels + n]; });
}

// Returns the filter in the layout of Conv2dArgs.
std::vector<float> PadRows(const std::vector<float>& filter, size_t depth, size_t row) {
  std::vector<float> padded(filter.size() / depth * row, -0.0f);
  for (size_t n = 0; n < filter.size() / depth; ++n) {
    std::copy_n(filter.data() + n * depth, depth, padded.data() + n * row);
  }
  return padded;
}

size_t FilterRow(size_t depth) {
  return (depth + cuda::kConvStep - 1) / cuda::kConvStep * cuda::kConvStep;
}

// Returns random floats, with NaNs, and with zeros of both signs next to each other.
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

// Returns the greatest value of each window. A NaN is taken only if it comes first, and of several
// zeros the first one.
std::vector<float> Greatest(const ImageWindow& w, const std::vector<float>& image) {
  std::vector<float> greatest;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    const std::vector<Tap> taps = TapsOf(w, pixel);
    for (int c = 0; c < w.channels; ++c) {
      float most = 0;
      bool is_first = true;
      for (const Tap& tap : taps) {
        if (!tap.inside) continue;
        const float value = image[tap.first + c];
        most = is_first || value > most ? value : most;
        is_first = false;
      }
      greatest.push_back(most);
    }
  }
  return greatest;
}

// The signs of a dense layer, in the layout of SignedDenseArgs.
struct DenseSigns {
  size_t lanes;
  std::vector<uint32_t> words;

  DenseSigns(std::mt19937& random, int depth, int units)
      : lanes(static_cast<size_t>((units + 31) / 32 * 32)),
        words(static_cast<size_t>((depth + 31) / 32) * lanes) {
    for (uint32_t& word : words) word = random();
  }
  bool IsMinus(int input, int unit) const {
    return words[input / 32 * lanes + unit] >> input % 32 & 1;
  }
};

std::string DescribeDense(int rows, int depth, int units) {
  return std::to_string(rows) + " rows of " + std::to_string(depth) + " to " +
         std::to_string(units);
}

}  // namespace

ImageWindow MakeWindow(int batch, int in_height, int in_width, int channels, int filter_height,
                       int filter_width, int stride_height, int stride_width, bool same) {
  const AxisPadding padding = {.same = same};
  const Window2d window = {
      .height = {.taps = filter_height, .stride = stride_height, .padding = padding},
      .width = {.taps = filter_width, .stride = stride_width, .padding = padding}};
  const auto [height, width] = window.Over(in_height, in_width);
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

ImageWindow PaddedPixels(int batch, int in_height, int in_width, int channels) {
  ImageWindow w = MakeWindow(batch, in_height, in_width, channels, 1, 1, 1, 1, true);
  w.pad_top = w.pad_left = 1;
  w.out_height = cuda::MakeDivisor(in_height + 2);
  w.out_width = cuda::MakeDivisor(in_width + 2);
  return w;
}

std::string RunConv2d(std::mt19937& random, const ImageWindow& w, int out_channels) {
  const size_t depth = static_cast<size_t>(w.filter_height) * w.filter_width * w.channels;
  const std::vector<float> image = RandomFloats(random, InValues(w));
  const std::vector<float> filter = RandomFloats(random, depth * out_channels);
  const std::vector<float> sums = Conv2dSums(w, image, filter, out_channels);
  const GuardedBuffer<float> image_memory(image, GuardFor(image.size()));
  const GuardedBuffer<float> filter_memory(PadRows(filter, depth, FilterRow(depth)));
  cuda::Conv2dArgs args{};
  args.image = image_memory.data();
  args.filter = filter_memory.data();
  args.filter_row = static_cast<int32_t>(FilterRow(depth));
  args.out_channels = out_channels;
  args.window = w;
  args.line = cuda::MakeDivisor(w.filter_width * w.channels);
  for (const cuda::Conv2dRow& row : cuda::Conv2dRows()) {
    if (!cuda::Takes(row, args)) continue;
    Tail tail(random, OutPixels(w), static_cast<size_t>(out_channels));
    args.channel_tiles = cuda::MakeDivisor(row.channel_tiles(args));
    args.program = tail.Program();
    const cuda::LaunchSize size = row.size(args);
    Launch(row.kernel, &args, size.blocks, random, size.shared_bytes);
    const std::string difference =
        tail.Difference(sums, std::string(cuda::RowOf(row.kernel).name) + ": " + Describe(w) +
                                  " to " + std::to_string(out_channels));
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string RunDepthwise(std::mt19937& random, const ImageWindow& w, int multiplier) {
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
  return RunRows(random, cuda::DepthwiseRows(), args, static_cast<size_t>(out_channels),
                 DepthwiseSums(w, image, filter, multiplier), Describe(w));
}

std::string RunDepthwisePointwise(std::mt19937& random, const ImageWindow& w, int out_channels) {
  const ImageWindow pixels =
      MakeWindow(w.batch, w.out_height.value, w.out_width.value, w.channels, 1, 1, 1, 1, true);
  const auto depth = static_cast<size_t>(w.channels);
  const std::vector<float> image = RandomFloats(random, InValues(w));
  const std::vector<float> taps = RandomFloats(random, 9 * depth);
  const std::vector<float> weights = RandomFloats(random, depth * out_channels);
  const std::vector<float> bias = RandomFloats(random, depth);
  std::vector<float> between = DepthwiseSums(w, image, taps, 1);
  for (size_t k = 0; k < between.size(); ++k) {
    between[k] = std::min(std::max(between[k] + bias[k % depth], -0.5f), 2.0f);
  }
  const std::vector<float> sums = Conv2dSums(pixels, between, weights, out_channels);
  const GuardedBuffer<float> image_memory(image);
  const GuardedBuffer<float> taps_memory(taps);
  const GuardedBuffer<float> bias_memory(bias);
  const GuardedBuffer<float> weights_memory(PadRows(weights, depth, FilterRow(depth)));
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
  args.pointwise.filter_row = static_cast<int32_t>(FilterRow(depth));
  args.pointwise.out_channels = out_channels;
  args.pointwise.window = pixels;
  if (!cuda::TakesDepthwisePointwise(args.depthwise, args.pointwise)) {
    return "no kernel takes " + Describe(w);
  }
  for (const cuda::Conv2dRow& row : cuda::DepthwisePointwiseRows()) {
    Tail tail(random, OutPixels(w), static_cast<size_t>(out_channels));
    args.pointwise.channel_tiles = cuda::MakeDivisor(row.channel_tiles(args.pointwise));
    args.pointwise.program = tail.Program();
    const cuda::LaunchSize size = row.size(args.pointwise);
    Launch(row.kernel, &args, size.blocks, random, size.shared_bytes);
    const std::string difference =
        tail.Difference(sums, std::string(cuda::RowOf(row.kernel).name) + ": " + Describe(w) +
                                  " to " + std::to_string(out_channels));
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string RunMaxPool(std::mt19937& random, const ImageWindow& w) {
  const std::vector<float> image = FloatsToPool(random, InValues(w));
  const GuardedBuffer<float> memory(image);
  cuda::PoolArgs args{};
  args.floats = memory.data();
  args.window = w;
  return RunRows(random, cuda::MaxPoolRows(), args, static_cast<size_t>(w.channels),
                 Greatest(w, image), Describe(w));
}

std::string RunMaxPoolBits(std::mt19937& random, const ImageWindow& w) {
  std::vector<uint32_t> image(InValues(w));
  for (uint32_t& word : image) word = random() | random();
  std::vector<uint32_t> expected;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    const std::vector<Tap> taps = TapsOf(w, pixel);
    for (int c = 0; c < w.channels; ++c) {
      uint32_t word = ~0u;
      for (const Tap& tap : taps) {
        if (tap.inside) word &= image[tap.first + c];
      }
      expected.push_back(word);
    }
  }
  const GuardedBuffer<uint32_t> memory(image);
  Output<uint32_t> out(expected.size());
  cuda::PoolArgs args{};
  args.bits = memory.data();
  args.bits_out = out.data();
  args.window = w;
  args.lanes = cuda::MakeDivisor(w.channels);
  Launch(cuda::KernelId::max_pool_bits, &args,
         BlocksOfThreads(static_cast<int64_t>(expected.size())), random);
  return out.Difference(expected, "max_pool_bits: " + Describe(w));
}

std::string RunPooledDepthwise(std::mt19937& random, const ImageWindow& pool,
                               const ImageWindow& w) {
  const std::vector<float> image = FloatsToPool(random, InValues(pool));
  const std::vector<float> filter = RandomFloats(random, static_cast<size_t>(9 * w.channels));
  const GuardedBuffer<float> image_memory(image);
  const GuardedBuffer<float> filter_memory(filter);
  cuda::PooledDepthwiseArgs args{};
  args.pool = pool;
  args.conv.image = image_memory.data();
  args.conv.filter = filter_memory.data();
  args.conv.out_channels = w.channels;
  args.conv.multiplier = cuda::MakeDivisor(1);
  args.conv.window = w;
  if (cuda::FindPixelRow(cuda::PooledDepthwiseRows(), args) == nullptr) {
    return "no kernel takes " + Describe(pool) + ", " + Describe(w);
  }
  return RunRows(random, cuda::PooledDepthwiseRows(), args, static_cast<size_t>(w.channels),
                 DepthwiseSums(w, Greatest(pool, image), filter, 1),
                 Describe(pool) + ", " + Describe(w));
}

// A window that contains all pixels of an image is summed in parts of 16 pixels.
std::string RunAveragePool(std::mt19937& random, const ImageWindow& w) {
  const std::vector<float> image = RandomFloats(random, InValues(w));
  std::vector<float> means;
  for (size_t pixel = 0; pixel < OutPixels(w); ++pixel) {
    std::vector<Tap> taps = TapsOf(w, pixel);
    std::erase_if(taps, [](const Tap& tap) { return !tap.inside; });
    const bool is_image = OutPixels(w) == static_cast<size_t>(w.batch) &&
                          taps.size() == static_cast<size_t>(w.in_height) * w.in_width;
    const size_t part = is_image ? 16 : taps.size();
    for (int c = 0; c < w.channels; ++c) {
      float sum = 0;
      for (size_t first = 0; first < taps.size(); first += part) {
        float sum_of_part = 0;
        for (size_t tap = first; tap < std::min(first + part, taps.size()); ++tap) {
          sum_of_part += image[taps[tap].first + c];
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
  return RunRows(random, cuda::AveragePoolRows(), args, static_cast<size_t>(w.channels), means,
                 Describe(w));
}

// The kernel may read four inputs at a time only if their number is a multiple of 4; otherwise
// memory ends with the last input.
std::string RunSignedDense(std::mt19937& random, int rows, int depth, int units) {
  const std::vector<float> in = RandomFloats(random, static_cast<size_t>(rows * depth));
  const std::vector<float> scale = RandomFloats(random, static_cast<size_t>(units));
  const DenseSigns signs(random, depth, units);
  std::vector<float> sums;
  for (int row = 0; row < rows; ++row) {
    for (int unit = 0; unit < units; ++unit) {
      float sum = 0;
      for (int first = 0; first < depth; first += 4) {
        float four = 0;
        for (int d = first; d < first + 4; ++d) {
          const float x = d < depth ? in[static_cast<size_t>(row * depth + d)] : 0.0f;
          const float value = signs.IsMinus(d, unit) ? -x : x;
          four = d == first ? value : four + value;
        }
        sum += four;
      }
      sums.push_back(sum * scale[static_cast<size_t>(unit)]);
    }
  }
  const GuardedBuffer<float> in_memory(in, depth % 4 == 0 ? GuardFor(in.size()) : Guard::kAfter);
  const GuardedBuffer<uint32_t> sign_memory(signs.words);
  const GuardedBuffer<float> scale_memory(scale);
  Tail tail(random, static_cast<size_t>(rows), static_cast<size_t>(units));
  const cuda::SignedDenseArgs args = {.in = in_memory.data(),
                                      .signs = sign_memory.data(),
                                      .scale = scale_memory.data(),
                                      .rows = rows,
                                      .depth = depth,
                                      .units = units,
                                      .program = tail.Program()};
  Launch(cuda::KernelId::signed_dense, &args, BlocksOfWarps((rows + 3) / 4, units), random);
  return tail.Difference(sums, "signed_dense: " + DescribeDense(rows, depth, units));
}

std::string RunSignedDenseInt8(std::mt19937& random, int rows, int depth, int units) {
  std::vector<int8_t> in(static_cast<size_t>(rows * depth));
  for (int8_t& value : in) value = static_cast<int8_t>(random());
  const DenseSigns signs(random, depth, units);
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
        sum += signs.IsMinus(d, unit) ? -x : x;
      }
      const auto total = static_cast<int32_t>(static_cast<uint64_t>(sum * weight[u] + bias[u]));
      const float y = std::nearbyint(static_cast<float>(total) * multiplier[u]);
      expected.push_back(
          static_cast<int8_t>(static_cast<int>(std::clamp(y, min, max)) + zero_point));
    }
  }
  const GuardedBuffer<int8_t> in_memory(in, depth % 4 == 0 ? GuardFor(in.size()) : Guard::kAfter);
  const GuardedBuffer<uint32_t> sign_memory(signs.words);
  const GuardedBuffer<int32_t> weight_memory(weight), bias_memory(bias);
  const GuardedBuffer<float> multiplier_memory(multiplier);
  Output<int8_t> out(expected.size());
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
  Launch(cuda::KernelId::signed_dense_int8, &args, BlocksOfWarps((rows + 3) / 4, units), random);
  return out.Difference(expected, "signed_dense_int8: " + DescribeDense(rows, depth, units));
}

// The bits behind the depth are at random.
std::string RunBmatmul(std::mt19937& random, int matrices, int rows, int columns, int depth) {
  const int words = (depth + 31) / 32;
  const auto draw = [&](int count) {
    std::vector<uint32_t> bits(static_cast<size_t>(matrices * count * words));
    for (uint32_t& word : bits) word = random();
    return bits;
  };
  const std::vector<uint32_t> left = draw(rows), right = draw(columns);
  const auto sign = [&](const std::vector<uint32_t>& bits, int row, int k) {
    return bits[static_cast<size_t>(row * words + k / 32)] >> k % 32 & 1u ? -1 : 1;
  };
  const std::vector<float> numbers = RandomFloats(random, 4);
  const float of_left = random() % 2 != 0 ? 0.0f : numbers[1];
  const float of_right = random() % 2 != 0 ? 0.0f : numbers[2];
  std::vector<float> expected;
  for (int row = 0; row < matrices * rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      int dot = 0, left_sum = 0, right_sum = 0;
      for (int k = 0; k < depth; ++k) {
        const int s = sign(left, row, k), t = sign(right, row / rows * columns + column, k);
        dot += s * t;
        left_sum += s;
        right_sum += t;
      }
      const float of_column =
          (of_right == 0 ? 0 : static_cast<float>(right_sum) * of_right) + numbers[3];
      const float y = static_cast<float>(dot) * numbers[0] + of_column;
      expected.push_back(of_left == 0 ? y : y + static_cast<float>(left_sum) * of_left);
    }
  }
  const GuardedBuffer<uint32_t> left_memory(left), right_memory(right);
  Tail tail(random, static_cast<size_t>(matrices * rows), static_cast<size_t>(columns));
  const cuda::BmatmulArgs args = {
      .left = left_memory.data(),
      .right = right_memory.data(),
      .pixels = matrices * rows,
      .rows = cuda::MakeDivisor(rows),
      .columns = columns,
      .words = words,
      .last_word = depth % 32 == 0 ? ~uint32_t{0} : (uint32_t{1} << depth % 32) - 1,
      .depth = depth,
      .of_dot = numbers[0],
      .of_left = of_left,
      .of_right = of_right,
      .constant = numbers[3],
      .program = tail.Program()};
  Launch(cuda::KernelId::bmatmul, &args, BlocksOfWarps(matrices * rows, columns), random);
  return tail.Difference(expected, "bmatmul: " + DescribeDense(rows, depth, columns));
}

// The expected sum has the kernel's order: each lane's terms, then pairs of lanes.
std::string RunSoftmax(std::mt19937& random, int rows, int count) {
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
  Output<float> out(in.size());
  const cuda::SoftmaxArgs args = {
      .in = memory.data(), .out = out.data(), .rows = rows, .count = count, .beta = beta};
  Launch(cuda::KernelId::softmax, &args, BlocksOfThreads(rows * 32), random);
  return out.Difference(expected, "softmax: " + std::to_string(count));
}

}  // namespace larq_engine::testing
