#include "tests/kernels/cuda/bconv2d_case.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <sstream>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"
#include "larq_engine/kernels/cuda/emulated_tma.h"
#include "larq_engine/kernels/layers/reference.h"
#include "tests/kernels/cuda/emulated_kernels.h"

namespace larq_engine::testing {
namespace {

using cuda::Bconv2dArgs;
using cuda::Bconv2dOutput;
using cuda::PixelStep;

// A chip with so few multiprocessors that persistent blocks compute several tiles of a product.
constexpr cuda::Chip kChip = {.compute_capability = 90, .multiprocessors = 2};

constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t Pick(std::mt19937_64& random, std::initializer_list<int64_t> values) {
  return values.begin()[random() % values.size()];
}

std::vector<uint32_t> RandomBits(std::mt19937_64& random, size_t rows, size_t channels) {
  const size_t words = WordsFor(channels);
  std::vector<uint32_t> bits(rows * words);
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<uint32_t>(random());
    if (i % words == words - 1) bits[i] &= TailMask(channels);
  }
  return bits;
}

// Returns the weight of plane `plane` in the products with all planes of the other side.
int32_t PlaneWeight(int64_t plane, int64_t other_bits) {
  return static_cast<int32_t>((int64_t{1} << plane) * LargestOf(other_bits));
}

std::vector<float> RandomFloats(std::mt19937_64& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = random() % 8 == 0 ? 0.0f : std::uniform_real_distribution<float>(-2, 2)(random);
  }
  return values;
}

template <class T>
std::vector<unsigned char> BytesOf(const std::vector<T>& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Returns the filter in the layout of bconv2d_args.h: planes, in each of them the taps in order,
// then zeros.
std::vector<uint32_t> PadFilter(const Bconv2dSpec& spec, const std::vector<uint32_t>& filter) {
  const size_t channels = static_cast<size_t>(spec.out_channels);
  const size_t planes = static_cast<size_t>(spec.bits_weights);
  const size_t words = filter.size() / channels;
  const size_t padded = RoundUp(words / planes, 16);
  std::vector<uint32_t> result(planes * channels * padded);
  for (size_t i = 0; i < filter.size(); ++i) {
    const size_t in_channel = i % words;
    const size_t tap = in_channel / spec.tap_words() / planes;
    const size_t plane = in_channel / spec.tap_words() % planes;
    result[(plane * channels + i / words) * padded + tap * spec.tap_words() +
           i % spec.tap_words()] = filter[i];
  }
  return result;
}

// Returns the ones of the taps above and left of each corner.
std::vector<int32_t> CornerOnes(const Bconv2dSpec& spec, const std::vector<uint32_t>& filter) {
  const size_t height = static_cast<size_t>(spec.window.height.taps);
  const size_t width = static_cast<size_t>(spec.window.width.taps);
  const size_t channels = static_cast<size_t>(spec.out_channels);
  std::vector<int32_t> corners((height + 1) * (width + 1) * channels);
  for (size_t y = 0; y <= height; ++y) {
    for (size_t x = 0; x <= width; ++x) {
      for (size_t c = 0; c < channels; ++c) {
        int32_t& sum = corners[(y * (width + 1) + x) * channels + c];
        for (size_t tap = 0; tap < height * width; ++tap) {
          if (tap / width >= y || tap % width >= x) continue;
          for (int64_t plane = 0; plane < spec.bits_weights; ++plane) {
            const size_t row = (c * height * width + tap) * static_cast<size_t>(spec.bits_weights) +
                               static_cast<size_t>(plane);
            for (size_t w = 0; w < spec.tap_words(); ++w) {
              sum += std::popcount(filter[row * spec.tap_words() + w]) *
                     PlaneWeight(plane, spec.bits_in);
            }
          }
        }
      }
    }
  }
  return corners;
}

class EmulatedDevice : public GuardedDevice {
 public:
  explicit EmulatedDevice(const emulated_gpu::Options& options) : options_(options) {}

  void Launch(const cuda::Bconv2dRow& row, const Bconv2dArgs& args) override {
    const cuda::LaunchSize size = row.size(args, kChip);
    const cuda::Bconv2dMaps maps = cuda::MapsOf(args);
    const auto with_maps = std::make_unique<cuda::Bconv2dTmaArgs>();
    emulated_gpu::MakeTensorMap(maps.image, with_maps->image);
    emulated_gpu::MakeTensorMap(maps.filter, with_maps->filter);
    with_maps->layer = args;
    const void* all = &args;
    if (row.has_maps) all = with_maps.get();
    emulated_gpu::Options options = options_;
    options.complete_earlier = WriteLater(args.image);
    counters_ = LaunchEmulated(*FindEmulatedKernel(cuda::RowOf(row.kernel).name), all,
                               {static_cast<unsigned>(size.blocks)}, {size.threads},
                               size.shared_bytes, options);
  }
  const emulated_gpu::Counters& counters() const { return counters_; }

 private:
  // Fills a buffer with rubbish, as if an earlier launch had yet to write it, and returns a
  // function that writes its contents.
  std::function<void()> WriteLater(const void* data) {
    for (const auto& buffer : buffers_) {
      if (buffer->data() != data) continue;
      const std::vector<unsigned char> written(buffer->data(), buffer->data() + buffer->size());
      std::memset(buffer->data(), 0x5a, buffer->size());
      return [to = buffer->data(), written] { std::copy(written.begin(), written.end(), to); };
    }
    return [] {};
  }

  emulated_gpu::Options options_;
  emulated_gpu::Counters counters_;
};

float Clamped(float y, float min, float max) { return y < min ? min : y > max ? max : y; }

// Returns a dense layer, or a convolution that is the same product as one.
GpuLayer RandomPlainLayer(std::mt19937_64& random) {
  GpuLayer layer;
  layer.spec.in_channels = Pick(random, {64, 128, 200, 384, 1024, 1100, 2500});
  layer.spec.out_channels = Pick(random, {1, 33, 64, 100, 256, 300});
  layer.batch = Pick(random, {1, 2, 5});
  layer.height = layer.width = Pick(random, {1, 4, 7});
  return layer;
}

// Gives a layer several bit planes, and sizes that are small enough for the reference, which takes
// each bit by itself.
void AddPlanes(std::mt19937_64& random, GpuLayer& layer) {
  Bconv2dSpec& s = layer.spec;
  s.bits_in = Pick(random, {1, 2, 2, 3, 4});
  s.bits_weights = Pick(random, {1, 1, 2, 3, 4});
  if (s.groups == 1) s.in_channels = std::min<int64_t>(s.in_channels, 260);
}

GpuLayer RandomConvolution(std::mt19937_64& random) {
  GpuLayer layer;
  Bconv2dSpec& s = layer.spec;
  s.groups = Pick(random, {1, 1, 1, 1, 2, 3});
  if (s.groups == 1) {
    s.in_channels = Pick(random, {1, 17, 31, 32, 33, 64, 64, 65, 96, 128, 130, 256, 512});
    s.out_channels = Pick(random, {1, 2, 7, 16, 31, 32, 33, 64, 65, 100, 128, 130});
  } else {
    s.in_channels = s.groups * Pick(random, {32, 64, 96, 128});
    s.out_channels = s.groups * Pick(random, {1, 5, 32, 64, 96});
  }
  s.window.height.taps = Pick(random, {1, 2, 3, 3, 5});
  s.window.width.taps = Pick(random, {1, 2, 3, 3, 4});
  s.window.height.stride = Pick(random, {1, 1, 2, 3});
  s.window.width.stride = Pick(random, {1, 1, 2, 3});
  s.window.height.dilation = Pick(random, {1, 1, 2});
  s.window.width.dilation = Pick(random, {1, 1, 3});
  s.pad_value = static_cast<PadValue>(Pick(random, {-1, 0, 1}));
  for (AxisPadding* padding : {&s.window.height.padding, &s.window.width.padding}) {
    switch (random() % 4) {
      case 0:
        break;  // VALID
      case 1:
        *padding = {.before = Pick(random, {0, 1, 2, 9}), .after = Pick(random, {0, 1, 7})};
        break;
      default:
        padding->same = true;
    }
  }
  layer.batch = Pick(random, {1, 1, 2, 3});
  layer.height = Pick(random, {1, 4, 7, 9});
  layer.width = Pick(random, {1, 5, 8, 11});
  // The image is large enough for a VALID window.
  layer.height += s.window.height.extent() - 1;
  layer.width += s.window.width.extent() - 1;
  return layer;
}

bool HasBits(const GpuLayer& layer) {
  return layer.fused != Fused::kNothing && (layer.fused != Fused::kSum || layer.steps.bits);
}

// Tells whether the floats of the last step are written.
bool HasFloats(const GpuLayer& layer) {
  if (layer.fused == Fused::kSum) return layer.steps.out;
  return layer.fused != Fused::kBitsOnly && layer.fused != Fused::kLevels;
}

// Returns the bound to which products, sums and residual sums of Fused::kSum are clamped.
float SumEnd(const SumSteps& steps) { return steps.clamps ? 3.5f : kInfinity; }

}  // namespace

std::string Describe(const GpuLayer& layer) {
  const Bconv2dSpec& s = layer.spec;
  const auto& [height, width] = s.window;
  const auto pads = [](const AxisPadding& p) {
    return p.same ? std::string("SAME") : std::to_string(p.before) + "+" + std::to_string(p.after);
  };
  std::ostringstream out;
  out << "image " << layer.batch << "x" << layer.height << "x" << layer.width << "x"
      << s.in_channels << ", filter " << s.out_channels << "x" << height.taps << "x" << width.taps
      << ", stride " << height.stride << "x" << width.stride << ", dilation " << height.dilation
      << "x" << width.dilation << ", groups " << s.groups << ", pads " << pads(height.padding)
      << " x " << pads(width.padding) << " of " << static_cast<int>(s.pad_value) << ", activation "
      << static_cast<int>(layer.activation) << ", output " << static_cast<int>(layer.kind)
      << ", fused " << static_cast<int>(layer.fused) << ", bits " << s.bits_in << " by "
      << s.bits_weights << ", of levels " << layer.level_bits;
  const SumSteps& steps = layer.steps;
  out << ", sum of " << steps.activation << steps.product << steps.sum << steps.sum_out
      << steps.residual << steps.out << steps.bits << steps.limits << steps.clamps
      << (layer.by_any_epilogue ? ", by the epilogue for any output" : "");
  return out.str();
}

SumSteps RandomSteps(std::mt19937_64& random) {
  SumSteps steps;
  for (bool* step : {&steps.activation, &steps.product, &steps.sum, &steps.sum_out, &steps.residual,
                     &steps.out, &steps.bits, &steps.limits, &steps.clamps}) {
    *step = random() % 3 > 0;
  }
  steps.out = steps.out || (!steps.bits && !steps.sum_out);
  return steps;
}

GpuLayer RandomLayer(std::mt19937_64& random) {
  GpuLayer layer = random() % 4 == 0 ? RandomPlainLayer(random) : RandomConvolution(random);
  layer.activation = static_cast<Activation>(random() % 4);
  layer.kind = static_cast<OutputKind>(random() % 3);
  if (layer.kind == OutputKind::kFloat) layer.fused = static_cast<Fused>(random() % 6);
  if (random() % 4 == 0) AddPlanes(random, layer);
  layer.level_bits = Pick(random, {2, 3, kMaxBits});
  layer.steps = RandomSteps(random);
  layer.by_any_epilogue = random() % 4 == 0;
  return layer;
}

GpuCase::GpuCase(const GpuLayer& layer, std::mt19937_64& random) : layer_(layer) {
  const Bconv2dSpec& spec = layer_.spec;
  const size_t channels = static_cast<size_t>(spec.out_channels);
  const size_t in_pixels = static_cast<size_t>(layer_.batch * layer_.height * layer_.width);
  const size_t pixels = static_cast<size_t>(
      layer_.batch * spec.window.Over(layer_.height, layer_.width).out_pixels());
  image_ = RandomBits(random, in_pixels * static_cast<size_t>(spec.bits_in * spec.groups),
                      static_cast<size_t>(spec.group_in_channels()));
  filter_ =
      RandomBits(random, channels * static_cast<size_t>(spec.window.taps() * spec.bits_weights),
                 static_cast<size_t>(spec.group_in_channels()));
  for (auto& values : channel_values_) values = RandomFloats(random, channels);
  channel_signs_.resize(channels);
  for (uint32_t& sign : channel_signs_) sign = random() % 2 << 31;
  level_limits_.resize(channels * static_cast<size_t>(LargestOf(layer_.level_bits)));
  for (size_t c = 0; c < channels; ++c) {
    std::vector<float> own = RandomFloats(random, level_limits_.size() / channels);
    std::sort(own.begin(), own.end());
    for (size_t i = 0; i < own.size(); ++i) {
      level_limits_[i * channels + c] = own[i] * static_cast<float>(spec.max_product());
    }
  }
  residual_ = RandomFloats(random, pixels * channels);

  const std::vector<float> multiplier = RandomFloats(random, channels);
  const std::vector<float> bias = RandomFloats(random, channels);
  std::vector<int32_t> threshold(channels);
  for (int32_t& limit : threshold) {
    limit = random() % 16 == 0
                ? (random() % 2 ? INT32_MIN : INT32_MAX)
                : static_cast<int32_t>(spec.max_dot() / 2 +
                                       Pick(random, {-3, 0, 3}) * spec.max_product());
  }
  switch (layer_.kind) {
    case OutputKind::kFloat:
      transform_ = MakeFloatTransform(layer_.activation, multiplier.data(), bias.data(), channels);
      break;
    case OutputKind::kInt8:
      transform_ = MakeInt8Transform(layer_.activation, multiplier.data(), bias.data(), channels,
                                     1.0 / static_cast<double>(1 + random() % 20),
                                     static_cast<int32_t>(random() % 41) - 20);
      break;
    case OutputKind::kBits:
      transform_ = MakeBitsTransform(threshold.data(), channels, spec.max_dot());
      break;
  }
  std::vector<unsigned char> output(pixels * transform_.PixelBytes(channels));
  ReferenceBconv2d(spec, transform_, layer_.height, layer_.width, image_.data(), filter_.data(), 0,
                   static_cast<int64_t>(pixels), output.data());
  if (layer_.kind != OutputKind::kFloat) {
    expected_ = {output};
    return;
  }
  std::vector<float> y(pixels * channels);
  std::memcpy(y.data(), output.data(), output.size());
  std::vector<float> first = y;
  const size_t words = WordsFor(channels);
  const size_t planes = layer_.fused == Fused::kLevels ? static_cast<size_t>(layer_.level_bits) : 1;
  std::vector<uint32_t> bits(pixels * planes * words);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t c = i % channels;
    bool minus = false;
    size_t level = 0;
    switch (layer_.fused) {
      case Fused::kNothing:
        break;
      case Fused::kBatchNorm: {
        const float product = Clamped(y[i], 0, kInfinity) * channel_values_[0][c];
        y[i] = Clamped(product + channel_values_[1][c], -1, 6);
        minus = y[i] < 0;
        break;
      }
      case Fused::kResidual: {
        y[i] = y[i] < 0 ? y[i] * channel_values_[0][c] : y[i];
        y[i] = y[i] + residual_[i];
        first[i] = y[i];
        y[i] = Clamped(y[i] * residual_[i], -3, 3);
        const float turned = channel_signs_[c] ? -y[i] : y[i];
        minus = turned < channel_values_[2][c];
        break;
      }
      case Fused::kSum: {
        const SumSteps& steps = layer_.steps;
        const float end = SumEnd(steps);
        if (steps.activation) y[i] = Clamped(y[i], 0, kInfinity);
        if (steps.product) y[i] = Clamped(y[i] * channel_values_[0][c], -end, end);
        if (steps.sum) y[i] = Clamped(y[i] + channel_values_[1][c], -end, end);
        first[i] = y[i];
        if (steps.residual) y[i] = Clamped(y[i] + residual_[i], -end, end);
        const float turned = channel_signs_[c] ? -y[i] : y[i];
        minus = steps.limits ? turned < channel_values_[2][c] : y[i] < 0;
        break;
      }
      case Fused::kBitsOnly:
        minus = y[i] < 0;
        break;
      case Fused::kLevels:
        for (size_t l = c; l < level_limits_.size(); l += channels)
          level += y[i] >= level_limits_[l];
        break;
    }
    for (size_t plane = 0; plane < planes; ++plane) {
      if (layer_.fused == Fused::kLevels) minus = (level >> plane) % 2 == 0;
      if (minus) bits[(i / channels * planes + plane) * words + c / 32] |= kBit[c % 32];
    }
  }
  const bool stores_first =
      layer_.fused == Fused::kResidual || (layer_.fused == Fused::kSum && layer_.steps.sum_out);
  if (stores_first) expected_.push_back(BytesOf(first));
  if (HasFloats(layer_)) expected_.push_back(BytesOf(y));
  if (HasBits(layer_)) expected_.push_back(BytesOf(bits));
}

cuda::Bconv2dArgs ShapeOf(const GpuLayer& layer) {
  const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
  const Bconv2dSpec& s = layer.spec;
  const auto [height, width] = s.window.Over(layer.height, layer.width);
  Bconv2dArgs a = {};
  a.pad_value = static_cast<int32_t>(s.pad_value);
  a.batch = number(layer.batch);
  a.in_height = number(layer.height);
  a.in_width = number(layer.width);
  a.pixel_words = number(static_cast<int64_t>(s.pixel_words()));
  a.out_height = number(height.out);
  a.out_width = number(width.out);
  a.out_channels = number(s.out_channels);
  a.group_out_channels = number(s.group_out_channels());
  a.tap_words = number(static_cast<int64_t>(s.tap_words()));
  a.filter_words = number(
      static_cast<int64_t>(RoundUp(static_cast<size_t>(s.window.taps()) * s.tap_words(), 16)));
  a.filter_height = number(height.taps);
  a.filter_width = number(width.taps);
  a.stride_height = number(height.stride);
  a.stride_width = number(width.stride);
  a.dilation_height = number(height.dilation);
  a.dilation_width = number(width.dilation);
  a.pad_top = number(height.pad_before);
  a.pad_left = number(width.pad_before);
  a.tap_dot = number(s.group_in_channels() * s.max_product());
  a.bits_in = number(s.bits_in);
  a.bits_weights = number(s.bits_weights);
  a.plane_words = number(static_cast<int64_t>(s.plane_words()));
  a.divisors = cuda::DivisorsOf(a);
  a.output.kind = static_cast<Bconv2dOutput::Kind>(layer.kind);
  if (layer.fused == Fused::kLevels) a.output.after.planes = number(layer.level_bits);
  return a;
}

const void* GuardedDevice::Hold(std::span<const unsigned char> bytes) {
  buffers_.push_back(std::make_unique<GuardedBuffer<unsigned char>>(bytes));
  return buffers_.back()->data();
}

unsigned char* GuardedDevice::Output(size_t bytes) {
  buffers_.push_back(std::make_unique<GuardedBuffer<unsigned char>>(bytes));
  std::memset(buffers_.back()->data(), 0xcd, bytes);
  return buffers_.back()->data();
}

std::vector<unsigned char> GuardedDevice::Read(const unsigned char* output, size_t bytes) {
  return {output, output + bytes};
}

std::string GpuCase::Run(const cuda::Bconv2dRow& row, const emulated_gpu::Options& options,
                         emulated_gpu::Counters* counters) const {
  EmulatedDevice device(options);
  const std::string difference = Run(row, device);
  if (counters != nullptr) *counters = device.counters();
  if (difference.empty()) return "";
  return "order " + std::to_string(options.order) + ", seed " + std::to_string(options.seed) +
         (options.early_copies ? ", early" : ", late") + " copies: " + difference;
}

std::string GpuCase::Run(const cuda::Bconv2dRow& row, CaseDevice& device) const {
  const Bconv2dSpec& spec = layer_.spec;
  const size_t channels = static_cast<size_t>(spec.out_channels);
  const auto hold = [&]<typename T>(const std::vector<T>& values) {
    return static_cast<const T*>(device.Hold(BytesOf(values)));
  };
  std::vector<unsigned char*> outputs;
  for (const Bytes& bytes : expected_) outputs.push_back(device.Output(bytes.size()));

  Bconv2dArgs a = ShapeOf(layer_);
  a.image = hold(image_);
  a.filter = hold(PadFilter(spec, filter_));
  const std::vector<int32_t> corners = CornerOnes(spec, filter_);
  const std::vector<int32_t> filter_ones(corners.end() - spec.out_channels, corners.end());
  a.filter_ones = hold(filter_ones);
  if (spec.IsPaddedWith(PadValue::kZero) || spec.IsPaddedWith(PadValue::kMinusOne)) {
    a.corner_ones = hold(corners);
  }
  Bconv2dOutput& output = a.output;
  output.dot_min = transform_.range.min;
  output.dot_max = transform_.range.max;
  output.multiplier = hold(transform_.multiplier);
  output.bias = hold(transform_.bias);
  output.zero_point = transform_.zero_point;
  const auto depth = static_cast<int32_t>(spec.max_dot());
  std::vector<int32_t> zero_dot = filter_ones;
  for (int32_t& dot : zero_dot) dot = depth - dot - dot;
  output.zero_dot = hold(zero_dot);
  output.dot_limit = hold(transform_.dot_limit);
  std::vector<int32_t> excess_limit;
  for (size_t c = 0; c < transform_.dot_limit.size(); ++c) {
    excess_limit.push_back(cuda::ExcessLimit(depth, transform_.dot_limit[c], filter_ones[c]));
  }
  output.excess_limit = hold(excess_limit);
  const auto floats = [&](size_t i) { return reinterpret_cast<float*>(outputs[i]); };
  const auto add_step = [&](PixelStep step) { output.after.steps[output.after.count++] = step; };
  if (layer_.kind == OutputKind::kInt8) {
    output.int8 = reinterpret_cast<int8_t*>(outputs[0]);
  } else if (layer_.kind == OutputKind::kBits) {
    output.bits = reinterpret_cast<uint32_t*>(outputs[0]);
  } else {
    switch (layer_.fused) {
      case Fused::kNothing:
        break;
      case Fused::kBatchNorm:
        add_step({PixelStep::kClamp, 0, kInfinity, nullptr, nullptr});
        add_step({PixelStep::kMultiplyChannels, -kInfinity, kInfinity, hold(channel_values_[0]),
                  nullptr});
        add_step({PixelStep::kAddChannels, -1, 6, hold(channel_values_[1]), nullptr});
        break;
      case Fused::kResidual:
        add_step({PixelStep::kPrelu, 0, 0, hold(channel_values_[0]), nullptr});
        add_step({PixelStep::kAddTensor, -kInfinity, kInfinity, hold(residual_), nullptr});
        add_step({PixelStep::kStore, 0, 0, nullptr, floats(0)});
        add_step({PixelStep::kMultiplyTensor, -3, 3, hold(residual_), nullptr});
        output.after.limits = hold(channel_values_[2]);
        output.after.signs = hold(channel_signs_);
        break;
      case Fused::kSum: {
        const SumSteps& steps = layer_.steps;
        const float end = SumEnd(steps);
        if (steps.activation) add_step({PixelStep::kClamp, 0, kInfinity, nullptr, nullptr});
        if (steps.product) {
          add_step({PixelStep::kMultiplyChannels, -end, end, hold(channel_values_[0]), nullptr});
        }
        if (steps.sum) {
          add_step({PixelStep::kAddChannels, -end, end, hold(channel_values_[1]), nullptr});
        }
        if (steps.sum_out) add_step({PixelStep::kStore, 0, 0, nullptr, floats(0)});
        if (steps.residual) {
          add_step({PixelStep::kAddTensor, -end, end, hold(residual_), nullptr});
        }
        if (steps.bits && steps.limits) {
          output.after.limits = hold(channel_values_[2]);
          output.after.signs = hold(channel_signs_);
        }
        break;
      }
      case Fused::kBitsOnly:
        break;
      case Fused::kLevels:
        output.after.limits = hold(level_limits_);
        output.after.signs = hold(std::vector<uint32_t>(channels));
        break;
    }
    const size_t last_floats = expected_.size() - (HasBits(layer_) ? 2 : 1);
    if (HasFloats(layer_)) add_step({PixelStep::kStore, 0, 0, nullptr, floats(last_floats)});
    if (HasBits(layer_)) output.after.bits = reinterpret_cast<uint32_t*>(outputs.back());
  }

  device.Launch(row, layer_.by_any_epilogue ? a : cuda::WithEpilogue(a));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Bytes got = device.Read(outputs[i], expected_[i].size());
    for (size_t at = 0; at < expected_[i].size(); ++at) {
      if (got[at] == expected_[i][at]) continue;
      std::ostringstream out;
      out << cuda::RowOf(row.kernel).name << ": byte " << at << " of output " << i << " is "
          << int{got[at]} << ", expected " << int{expected_[i][at]} << "; " << Describe(layer_);
      return out.str();
    }
  }
  return "";
}

}  // namespace larq_engine::testing
