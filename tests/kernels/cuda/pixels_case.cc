#include "tests/kernels/cuda/pixels_case.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/kernels/cuda/emulated_case.h"

namespace larq_engine::testing {
namespace {

using cuda::KernelId;
using cuda::PixelStep;

std::string DescribePixels(size_t pixels, size_t channels) {
  return std::to_string(pixels) + " pixels of " + std::to_string(channels);
}

template <class T>
std::vector<T> RandomNumbers(std::mt19937& random, size_t count) {
  std::vector<T> numbers(count);
  for (T& number : numbers) number = static_cast<T>(random());
  return numbers;
}

// Returns the number of words of a row, whose channels are packed in words.
size_t WordsOf(size_t channels) { return (channels + 31) / 32; }
bool BitAt(const std::vector<uint32_t>& rows, size_t channels, size_t at) {
  return rows[at / channels * WordsOf(channels) + at % channels / 32] >> at % channels % 32 & 1;
}

cuda::PixelsArgs PixelsOf(size_t pixels, size_t channels) {
  cuda::PixelsArgs args{};
  args.pixels = static_cast<int64_t>(pixels);
  args.channels = static_cast<int32_t>(channels);
  return args;
}

}  // namespace

std::string RunPixels(std::mt19937& random, Source source, int pixel_count, int channel_count) {
  const auto pixels = static_cast<size_t>(pixel_count);
  const auto channels = static_cast<size_t>(channel_count);
  const bool are_signed = source == Source::kInt8;
  const int zero_point = Between(random, 0, 255) - (are_signed ? 128 : 0);
  const float scale = static_cast<float>(Between(random, 1, 1000)) / 777.0f;
  const std::vector<float> floats = RandomFloats(random, pixels * channels);
  const std::vector<uint32_t> bits = RandomNumbers<uint32_t>(random, pixels * WordsOf(channels));
  const std::vector<uint8_t> bytes = RandomNumbers<uint8_t>(random, pixels * channels);
  std::vector<float> expected = floats;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (source == Source::kBits) expected[i] = BitAt(bits, channels, i) ? -1.0f : 1.0f;
    if (source == Source::kInt8 || source == Source::kUint8) {
      const int value = are_signed && bytes[i] > 127 ? bytes[i] - 256 : bytes[i];
      expected[i] = static_cast<float>(double{scale} * (value - zero_point));
    }
  }
  const GuardedBuffer<float> floats_memory(floats);
  const GuardedBuffer<uint32_t> bits_memory(bits);
  const GuardedBuffer<uint8_t> bytes_memory(bytes);
  cuda::PixelsArgs args = PixelsOf(pixels, channels);
  if (source == Source::kFloats) args.floats = floats_memory.data();
  if (source == Source::kBits) args.bits = bits_memory.data();
  if (source == Source::kInt8 || source == Source::kUint8) args.bytes = bytes_memory.data();
  args.bytes_are_signed = are_signed;
  args.zero_point = zero_point;
  args.scale = scale;
  return RunRows(random, cuda::PixelsRows(), args, channels, expected,
                 DescribePixels(pixels, channels));
}

std::string RunPlanes(std::mt19937& random, int bit_count, int pixel_count, int channel_count) {
  const auto bits = static_cast<size_t>(bit_count);
  const auto pixels = static_cast<size_t>(pixel_count);
  const auto channels = static_cast<size_t>(channel_count);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
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
  std::vector<uint32_t> expected(pixels * bits * WordsOf(channels));
  for (size_t i = 0; i < in.size(); ++i) {
    size_t level = 0;
    for (size_t l = i % channels; l < limits.size(); l += channels) level += !(in[i] < limits[l]);
    for (size_t plane = 0; plane < bits; ++plane) {
      uint32_t& word =
          expected[(i / channels * bits + plane) * WordsOf(channels) + i % channels / 32];
      if ((level >> plane) % 2 == 0) word |= 1u << i % channels % 32;
    }
  }
  const GuardedBuffer<float> memory(in);
  const GuardedBuffer<float> limits_memory(limits);
  const std::vector<uint32_t> no_signs(channels);
  const GuardedBuffer<uint32_t> signs(no_signs);
  cuda::PixelsArgs args = PixelsOf(pixels, channels);
  args.floats = memory.data();
  args.program.planes = static_cast<int32_t>(bits);
  args.program.limits = limits_memory.data();
  args.program.signs = signs.data();
  for (const cuda::PixelRow& row : cuda::PixelsRows()) {
    if (!cuda::Takes(row, args)) continue;
    Output<uint32_t> out(expected.size());
    args.program.bits = out.data();
    const cuda::LaunchSize size = cuda::Prepare(row, args);
    Launch(row.kernel, &args, size.blocks, random);
    const std::string name = cuda::RowOf(row.kernel).name;
    const std::string difference =
        out.Difference(expected, name + ": planes of " + DescribePixels(pixels, channels));
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string RunUnary(std::mt19937& random) {
  struct Case {
    cuda::UnaryFunction function;
    float (*value)(float);
    const char* name;
  };
  constexpr Case kCases[] = {
      {cuda::UnaryFunction::kLogistic, [](float x) { return 1.0f / (1.0f + std::exp(-x)); },
       "logistic"},
  };
  const std::vector<float> in = {-200.0f, -3.0f, -0.0f, 0.0f, 1e-3f, 5.0f, 200.0f};
  const GuardedBuffer<float> memory(in);
  for (const Case& of : kCases) {
    std::vector<float> expected(in.size());
    std::transform(in.begin(), in.end(), expected.begin(), of.value);
    cuda::PixelsArgs args = PixelsOf(1, in.size());
    args.floats = memory.data();
    args.function = of.function;
    const std::string difference =
        RunRows(random, cuda::PixelsRows(), args, in.size(), expected, of.name);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string RunPackBytes(std::mt19937& random, Packed packed, int pixel_count, int channel_count) {
  const auto pixels = static_cast<size_t>(pixel_count);
  const auto channels = static_cast<size_t>(channel_count);
  const size_t planes = packed == Packed::kPlanes ? 8 : 1;
  const int limit = Between(random, -128, 127);
  std::vector<int8_t> in = RandomNumbers<int8_t>(random, pixels * channels);
  for (int8_t& byte : in) {
    if (packed == Packed::kBool) byte = static_cast<int8_t>(random() % 2);
    if (packed == Packed::kInt8 && random() % 4 == 0) byte = static_cast<int8_t>(limit);
  }
  std::vector<uint32_t> expected(pixels * planes * WordsOf(channels));
  for (size_t at = 0; at < in.size(); ++at) {
    for (size_t plane = 0; plane < planes; ++plane) {
      bool is_minus = in[at] < limit;
      if (packed == Packed::kBool) is_minus = in[at] == 0;
      if (packed == Packed::kPlanes) is_minus = (static_cast<uint8_t>(in[at]) >> plane) % 2 == 0;
      uint32_t& word =
          expected[(at / channels * planes + plane) * WordsOf(channels) + at % channels / 32];
      if (is_minus) word |= 1u << at % channels % 32;
    }
  }
  const GuardedBuffer<int8_t> memory(in);
  Output<uint32_t> out(expected.size());
  cuda::PackBytesArgs args{};
  args.in = memory.data();
  args.pixels = pixel_count;
  args.channels = channel_count;
  args.planes = static_cast<int32_t>(planes);
  args.is_bool = packed == Packed::kBool;
  args.limit = limit;
  args.out = out.data();
  Launch(KernelId::pack_bytes, &args, BlocksOfWarps(args.pixels, args.channels), random);
  return out.Difference(expected, "pack_bytes: " + DescribePixels(pixels, channels));
}

std::string RunUnpackBytes(std::mt19937& random, int pixel_count, int channel_count) {
  const auto pixels = static_cast<size_t>(pixel_count);
  const auto channels = static_cast<size_t>(channel_count);
  const std::vector<uint32_t> in = RandomNumbers<uint32_t>(random, pixels * WordsOf(channels));
  const int plus = Between(random, 0, 127), minus = Between(random, -128, -1);
  std::vector<int8_t> expected(pixels * channels);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<int8_t>(BitAt(in, channels, i) ? minus : plus);
  }
  const GuardedBuffer<uint32_t> memory(in);
  Output<int8_t> out(expected.size());
  cuda::UnpackBytesArgs args{};
  args.in = memory.data();
  args.pixels = pixel_count;
  args.channels = channel_count;
  args.plus = plus;
  args.minus = minus;
  args.out = out.data();
  Launch(KernelId::unpack_bytes, &args, BlocksOfThreads(args.pixels * args.channels), random);
  return out.Difference(expected, "unpack_bytes: " + DescribePixels(pixels, channels));
}

std::string RunCopyChannels(std::mt19937& random, int unit_bytes, int pixels) {
  const int units[] = {Between(random, 1, 9), Between(random, 1, 40), Between(random, 1, 9)};
  const int out_units = units[0] + units[1] + units[2];
  const auto unit = static_cast<size_t>(unit_bytes);
  std::vector<uint8_t> expected(static_cast<size_t>(pixels * out_units) * unit);
  Output<uint8_t> out(expected.size());
  int first = 0;
  for (const int own : units) {
    const auto in = RandomNumbers<uint8_t>(random, static_cast<size_t>(pixels * own) * unit);
    for (int pixel = 0; pixel < pixels; ++pixel) {
      std::copy_n(in.data() + static_cast<size_t>(pixel * own) * unit,
                  static_cast<size_t>(own) * unit,
                  expected.data() + static_cast<size_t>(pixel * out_units + first) * unit);
    }
    const GuardedBuffer<uint8_t> memory(in);
    cuda::CopyChannelsArgs args{};
    args.in = memory.data();
    args.out = out.data();
    args.pixels = pixels;
    args.unit_bytes = unit_bytes;
    args.in_units = cuda::MakeDivisor(own);
    args.out_units = out_units;
    args.first_unit = first;
    Launch(KernelId::copy_channels, &args, BlocksOfThreads(int64_t{pixels} * own), random);
    first += own;
  }
  return out.Difference(expected, "copy_channels: " + std::to_string(pixels) + " pixels");
}

std::string RunBroadcast(std::mt19937& random, bool multiplies) {
  const int height = Between(random, 1, 20), width = Between(random, 1, 20);
  cuda::BroadcastArgs args{};
  args.multiplies = multiplies;
  args.min = -1.5f;
  args.max = 1.5f;
  args.count = int64_t{height} * width;
  for (cuda::Divisor& dim : args.dims) dim = cuda::MakeDivisor(1);
  args.dims[cuda::kMaxBroadcastDims - 2] = cuda::MakeDivisor(height);
  args.dims[cuda::kMaxBroadcastDims - 1] = cuda::MakeDivisor(width);
  const std::vector<float> all = RandomFloats(random, static_cast<size_t>(args.count));
  const bool is_line = random() % 2 != 0;  // otherwise a column
  const std::vector<float> few = RandomFloats(random, is_line ? width : height);
  std::vector<float> expected;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float a = all[static_cast<size_t>(y * width + x)];
      const float b = few[static_cast<size_t>(is_line ? x : y)];
      expected.push_back(std::clamp(multiplies ? a * b : a + b, args.min, args.max));
    }
  }
  const GuardedBuffer<float> all_memory(all), few_memory(few);
  Output<float> out(expected.size());
  args.operands[0] = all_memory.data();
  args.operands[1] = few_memory.data();
  args.strides[0][cuda::kMaxBroadcastDims - 2] = width;
  args.strides[0][cuda::kMaxBroadcastDims - 1] = 1;
  args.strides[1][cuda::kMaxBroadcastDims - (is_line ? 1 : 2)] = 1;
  args.out = out.data();
  Launch(KernelId::broadcast, &args, BlocksOfThreads(args.count), random);
  return out.Difference(expected, "broadcast: " + DescribePixels(height, width));
}

std::string RunPadAround(std::mt19937& random) {
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
  const float around = RandomFloats(random, 1)[0];
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
  Output<float> out(expected.size());
  args.in = memory.data();
  args.out = out.data();
  args.unit_bytes = 4;
  Launch(KernelId::pad, &args, BlocksOfThreads(args.count), random);
  return out.Difference(expected, "pad");
}

std::string RunPadOut(std::mt19937& random, int unit_bytes) {
  cuda::PadArgs args{};
  args.unit_bytes = unit_bytes;
  size_t in_count = 1;
  args.count = 1;
  for (int d = 0; d < cuda::kMaxBoxDims; ++d) {
    args.in_dims[d] = Between(random, 1, 4);
    args.before[d] = -Between(random, 0, args.in_dims[d] - 1);
    args.out_dims[d] = cuda::MakeDivisor(Between(random, 1, args.in_dims[d] + args.before[d]));
    in_count *= static_cast<size_t>(args.in_dims[d]);
    args.count *= args.out_dims[d].value;
  }
  const auto unit = static_cast<size_t>(unit_bytes);
  const auto in = RandomNumbers<uint8_t>(random, in_count * unit);
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
  const GuardedBuffer<uint8_t> memory(in);
  Output<uint8_t> out(expected.size());
  args.in = memory.data();
  args.out = out.data();
  Launch(KernelId::pad, &args, BlocksOfThreads(args.count), random);
  return out.Difference(expected, "pad, out of a larger box");
}

}  // namespace larq_engine::testing
