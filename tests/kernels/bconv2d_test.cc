// Tests Bconv2d by a chain of oracles: a float convolution of the values checks ReferenceBconv2d,
// which checks Bconv2d on every row.
#include "larq_engine/kernels/layers/bconv2d.h"

#include <cmath>
#include <ostream>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/layers/reference.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::GuardedBuffer;
using testing::Random;

struct Image {
  int64_t batch;
  int64_t height;
  int64_t width;
};

struct Layer {
  Bconv2dSpec spec;
  Image image;
  Activation activation;
  OutputKind kind;
};

std::ostream& operator<<(std::ostream& out, const AxisPadding& padding) {
  return padding.same ? out << "SAME" : out << padding.before << "+" << padding.after;
}

std::ostream& operator<<(std::ostream& out, const Layer& layer) {
  const Bconv2dSpec& s = layer.spec;
  const auto& [height, width] = s.window;
  return out << "image " << layer.image.batch << "x" << layer.image.height << "x"
             << layer.image.width << "x" << s.in_channels << ", filter " << s.out_channels << "x"
             << height.taps << "x" << width.taps << ", stride " << height.stride << "x"
             << width.stride << ", dilation " << height.dilation << "x" << width.dilation
             << ", groups " << s.groups << ", pads " << height.padding << " x " << width.padding
             << " of " << static_cast<int>(s.pad_value) << ", bits " << s.bits_in << " x "
             << s.bits_weights << ", activation " << static_cast<int>(layer.activation)
             << ", output " << static_cast<int>(layer.kind);
}

// Sums of planes of +-1 values, and their bits with tails of 0.
struct Planes {
  std::vector<float> values;   // [rows][channels]
  std::vector<uint32_t> bits;  // [rows][planes][words of the channels]
};

Planes RandomPlanes(Random& random, int64_t rows, int64_t channels, int64_t planes) {
  Planes made;
  const size_t words = WordsFor(static_cast<size_t>(channels));
  made.values.resize(static_cast<size_t>(rows * channels));
  made.bits.assign(static_cast<size_t>(rows * planes) * words, 0);
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      for (size_t plane = 0; plane < static_cast<size_t>(planes); ++plane) {
        const bool negative = random.Word() & 1;
        const auto weight = static_cast<float>(1 << plane);
        made.values[r * static_cast<size_t>(channels) + c] += negative ? -weight : weight;
        const size_t row = r * static_cast<size_t>(planes) + plane;
        if (negative) made.bits[row * words + c / 32] |= uint32_t{1} << (c % 32);
      }
    }
  }
  return made;
}

struct Operands {
  Planes input;
  Planes filter;
  std::vector<float> multiplier;
  std::vector<float> bias;
  std::vector<int32_t> threshold;
  double scale;
  int32_t zero_point;
};

Operands RandomOperands(Random& random, const Layer& layer) {
  const Bconv2dSpec& s = layer.spec;
  const int64_t pixels = layer.image.batch * layer.image.height * layer.image.width;
  Operands o{.input = RandomPlanes(random, pixels, s.in_channels, s.bits_in),
             .filter = RandomPlanes(random, s.out_channels * s.window.taps(), s.group_in_channels(),
                                    s.bits_weights),
             .multiplier = {},
             .bias = {},
             .threshold = {},
             .scale = 1.0 / static_cast<double>(random.Int(1, 20)),
             .zero_point = static_cast<int32_t>(random.Int(-20, 20))};
  for (int64_t n = 0; n < s.out_channels; ++n) {
    // The multipliers and biases have both signs, and zeros.
    o.multiplier.push_back(n % 5 == 4 ? 0.0f : random.Float(-1.5f, 1.5f));
    o.bias.push_back(n % 7 == 6 ? 0.0f : random.Float(-1.5f, 1.5f));
    o.threshold.push_back(n % 11 == 9    ? INT32_MIN
                          : n % 11 == 10 ? INT32_MAX
                                         : static_cast<int32_t>(random.Int(0, s.max_dot())));
  }
  return o;
}

OutputTransform MakeTransform(const Layer& layer, const Operands& o) {
  const size_t channels = static_cast<size_t>(layer.spec.out_channels);
  switch (layer.kind) {
    case OutputKind::kFloat:
      return MakeFloatTransform(layer.activation, o.multiplier.data(), o.bias.data(), channels);
    case OutputKind::kInt8:
      return MakeInt8Transform(layer.activation, o.multiplier.data(), o.bias.data(), channels,
                               o.scale, o.zero_point);
    case OutputKind::kBits:
      break;
  }
  return MakeBitsTransform(o.threshold.data(), channels, layer.spec.max_dot());
}

// Returns the dot products as a float convolution computes them, straight from the definition of
// SAME and VALID.
std::vector<double> FloatConvolution(const Layer& layer, const Operands& o) {
  const Bconv2dSpec& s = layer.spec;
  const Image& im = layer.image;
  const auto& [rows, columns] = s.window;
  const auto out_size = [](int64_t in, const Window1d& axis) {
    const int64_t extent = (axis.taps - 1) * axis.dilation + 1;
    const AxisPadding& padding = axis.padding;
    return padding.same
               ? (in + axis.stride - 1) / axis.stride
               : (padding.before + in + padding.after - extent + axis.stride) / axis.stride;
  };
  const auto pad = [](int64_t in, int64_t out, const Window1d& axis) {
    const int64_t needed = (out - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1 - in;
    return !axis.padding.same ? axis.padding.before : needed < 0 ? 0 : needed / 2;
  };
  const int64_t height = out_size(im.height, rows);
  const int64_t width = out_size(im.width, columns);
  const int64_t top = pad(im.height, height, rows);
  const int64_t left = pad(im.width, width, columns);
  const double sign = s.pad_value == PadValue::kOne        ? 1
                      : s.pad_value == PadValue::kMinusOne ? -1
                                                           : 0;
  const double outside = sign * (std::exp2(static_cast<double>(s.bits_in)) - 1);
  const int64_t group_in = s.in_channels / s.groups;
  std::vector<double> dots;
  for (int64_t b = 0; b < im.batch; ++b) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t n = 0; n < s.out_channels; ++n) {
          const int64_t first_channel = n / (s.out_channels / s.groups) * group_in;
          double dot = 0;
          for (int64_t ty = 0; ty < rows.taps; ++ty) {
            for (int64_t tx = 0; tx < columns.taps; ++tx) {
              const int64_t iy = y * rows.stride + ty * rows.dilation - top;
              const int64_t ix = x * columns.stride + tx * columns.dilation - left;
              const bool in = iy >= 0 && ix >= 0 && iy < im.height && ix < im.width;
              for (int64_t c = 0; c < group_in; ++c) {
                const int64_t pixel = (b * im.height + iy) * im.width + ix;
                const double value =
                    in ? o.input
                             .values[static_cast<size_t>(pixel * s.in_channels + first_channel + c)]
                       : outside;
                const int64_t tap = (n * rows.taps + ty) * columns.taps + tx;
                dot += value * o.filter.values[static_cast<size_t>(tap * group_in + c)];
              }
            }
          }
          dots.push_back(dot);
        }
      }
    }
  }
  return dots;
}

double Activate(Activation activation, double dot) {
  switch (activation) {
    case Activation::kRelu:
      return std::fmax(dot, 0);
    case Activation::kRelu6:
      return std::fmin(std::fmax(dot, 0), 6);
    case Activation::kReluN1To1:
      return std::fmin(std::fmax(dot, -1), 1);
    case Activation::kNone:
      break;
  }
  return dot;
}

// Compares the reference's output with the definition, which is computed in double and without
// rounding.
void ExpectDefinition(const Layer& layer, const Operands& o, const std::byte* output) {
  const std::vector<double> dots = FloatConvolution(layer, o);
  const size_t channels = static_cast<size_t>(layer.spec.out_channels);
  const size_t words = WordsFor(channels);
  for (size_t i = 0; i < dots.size(); ++i) {
    const size_t n = i % channels;
    const double y =
        Activate(layer.activation, dots[i]) * double{o.multiplier[n]} + double{o.bias[n]};
    switch (layer.kind) {
      case OutputKind::kFloat:
        // The product and the sum round once each, each by half a unit of 2^-23.
        ASSERT_NEAR(reinterpret_cast<const float*>(output)[i], y,
                    (std::fabs(dots[i] * o.multiplier[n]) + std::fabs(y)) * 0x1p-23)
            << layer << " at " << i;
        break;
      case OutputKind::kInt8: {
        const double q = y / o.scale + o.zero_point;
        const double slack = 0.5 + (std::fabs(dots[i] * o.multiplier[n]) + 2) / o.scale * 0x1p-21;
        ASSERT_NEAR(reinterpret_cast<const int8_t*>(output)[i], std::fmin(std::fmax(q, -128), 127),
                    slack)
            << layer << " at " << i;
        break;
      }
      case OutputKind::kBits: {
        const size_t pixel = i / channels;
        const uint32_t word = reinterpret_cast<const uint32_t*>(output)[pixel * words + n / 32];
        const double acc = (static_cast<double>(layer.spec.max_dot()) - dots[i]) / 2;
        ASSERT_EQ((word >> (n % 32)) & 1, acc > o.threshold[n] ? 1u : 0u) << layer << " at " << i;
        break;
      }
    }
  }
}

size_t OutputBytes(const Layer& layer, const OutputTransform& transform) {
  const int64_t pixels = layer.image.batch *
                         layer.spec.window.Over(layer.image.height, layer.image.width).out_pixels();
  return static_cast<size_t>(pixels) *
         transform.PixelBytes(static_cast<size_t>(layer.spec.out_channels));
}

void ExpectRowsAgree(const Layer& layer, const Operands& o) {
  const OutputTransform transform = MakeTransform(layer, o);
  const size_t bytes = OutputBytes(layer, transform);
  const int64_t pixels =
      static_cast<int64_t>(bytes) /
      static_cast<int64_t>(transform.PixelBytes(static_cast<size_t>(layer.spec.out_channels)));
  const GuardedBuffer<uint32_t> input{std::span<const uint32_t>(o.input.bits)};
  GuardedBuffer<std::byte> expected(bytes);
  ReferenceBconv2d(layer.spec, transform, layer.image.height, layer.image.width, input.data(),
                   o.filter.bits.data(), 0, pixels, expected.data());
  ASSERT_NO_FATAL_FAILURE(ExpectDefinition(layer, o, expected.data()));
  const auto expect_same = [&](const auto& row) {
    const PixelOps& ops = SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), row.name));
    Bconv2d conv(layer.spec, o.filter.bits.data(), transform, row, ops);
    conv.Resize(layer.image.height, layer.image.width);
    AlignedBuffer<std::byte> scratch(conv.scratch_bytes());
    GuardedBuffer<std::byte> output(bytes);
    // The test runs in parts, as threads would: two of the pixels, one of which in blocks of
    // channels.
    const int64_t middle = pixels / 2;
    const size_t middle_byte = bytes / static_cast<size_t>(pixels) * static_cast<size_t>(middle);
    const auto run = [&](const ResidualSum& sum) {
      const auto from = [&](size_t byte) {
        ResidualSum part = sum;
        if (sum.addend != nullptr) part.addend += byte / sizeof(float);
        return part;
      };
      for (int64_t block = conv.channel_blocks() - 1; block >= 0; --block) {
        conv.Run(input.data(), middle, pixels, block, block + 1, scratch.data(),
                 output.data() + middle_byte, from(middle_byte));
      }
      conv.Run(input.data(), 0, middle, 0, conv.channel_blocks(), scratch.data(), output.data(),
               from(0));
    };
    run({});
    ASSERT_EQ(std::memcmp(output.data(), expected.data(), bytes), 0) << row.name << ": " << layer;
    if (layer.kind != OutputKind::kFloat) return;
    // The sums are written over their addend.
    auto* values = reinterpret_cast<float*>(output.data());
    const auto* products = reinterpret_cast<const float*>(expected.data());
    std::vector<float> sums(bytes / sizeof(float));
    const auto channels = static_cast<size_t>(layer.spec.out_channels);
    std::vector<float> gate(channels), slopes(channels);
    for (size_t c = 0; c < channels; ++c) {
      gate[c] = static_cast<float>(c % 5) - 1.75f;
      slopes[c] = static_cast<float>(c % 7) - 2.5f;
    }
    for (const bool gated : {false, true}) {
      for (size_t i = 0; i < sums.size(); ++i) {
        const float addend = static_cast<float>(i % 13) - 6.5f;
        float product = products[i];
        if (gated) product *= gate[i % channels];
        if (gated && product < 0) product *= slopes[i % channels];
        sums[i] = product + addend;
        values[i] = addend;
      }
      ResidualSum sum = {.addend = values};
      if (gated) {
        sum.gate = gate.data();
        sum.slopes = slopes.data();
      }
      run(sum);
      ASSERT_EQ(std::memcmp(output.data(), sums.data(), bytes), 0)
          << row.name << ", as a sum: " << layer << ", gated: " << gated;
    }
  };
  const CpuFeatures cpu = DetectCpuFeatures();  // kernel_rows_test.cc lists the missing ISAs
  for (const BgemmRow& row : BgemmRows()) {
    if (!cpu.Has(row.isa)) continue;
    ASSERT_NO_FATAL_FAILURE(expect_same(row));
  }
  for (const ByteRow& row : ByteRows()) {
    if (!cpu.Has(row.isa) || !PermitIsa(row.isa)) continue;
    ASSERT_NO_FATAL_FAILURE(expect_same(row));
  }
}

struct Padding {
  AxisPadding height;
  AxisPadding width;
  PadValue value;
};
constexpr PadValue kPadValues[] = {PadValue::kOne, PadValue::kZero, PadValue::kMinusOne};
constexpr AxisPadding kSame{.same = true};

constexpr AxisPadding Pads(int64_t before, int64_t after) {
  return {.before = before, .after = after};
}

constexpr Padding kPaddings[] = {
    {{}, {}, PadValue::kZero},
    {kSame, kSame, PadValue::kOne},
    {kSame, kSame, PadValue::kZero},
    {kSame, kSame, PadValue::kMinusOne},
    // Given pads, some of which are larger than every filter here.
    {Pads(1, 1), Pads(1, 1), PadValue::kZero},
    {Pads(2, 0), Pads(1, 3), PadValue::kOne},
    {Pads(0, 3), Pads(2, 1), PadValue::kZero},
    {Pads(7, 1), Pads(0, 9), PadValue::kMinusOne},
    {Pads(11, 13), Pads(12, 10), PadValue::kZero},
};

Bconv2dSpec Padded(Bconv2dSpec spec, const Padding& padding) {
  spec.window.height.padding = padding.height;
  spec.window.width.padding = padding.width;
  spec.pad_value = padding.value;
  return spec;
}

constexpr OutputKind kKinds[] = {OutputKind::kFloat, OutputKind::kInt8, OutputKind::kBits};
constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kReluN1To1,
                                       Activation::kRelu6};

TEST(Bconv2d, EveryPaddingOutputAndActivation) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  testing::Sample sample(random,
                         std::ssize(kPaddings) * std::ssize(kKinds) * std::ssize(kActivations) * 3);
  for (const Padding& padding : kPaddings) {
    for (OutputKind kind : kKinds) {
      for (Activation activation : kActivations) {
        for (int64_t channels : {1, 33, 64}) {
          if (!sample.Takes()) continue;
          const Layer layer{.spec = Padded({.in_channels = channels,
                                            .out_channels = 35,
                                            .window = SquareWindow({.taps = 3})},
                                           padding),
                            .image = {.batch = 2, .height = 5, .width = 6},
                            .activation = activation,
                            .kind = kind};
          ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
        }
      }
    }
  }
}

TEST(Bconv2d, NumbersOfBits) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  testing::Sample sample(random, 5 * 5 * std::ssize(kPaddings));
  constexpr int64_t kChannels[] = {5, 33, 64};
  for (int64_t bits_in : {1, 2, 3, 5, 8}) {
    for (int64_t bits_weights : {1, 2, 4, 7, 8}) {
      for (const Padding& padding : kPaddings) {
        if (!sample.Takes()) continue;
        const Layer layer{.spec = Padded({.in_channels = kChannels[random.Int(0, 2)],
                                          .out_channels = random.Int(1, 35),
                                          .window = SquareWindow({.taps = 3}),
                                          .bits_in = bits_in,
                                          .bits_weights = bits_weights},
                                         padding),
                          .image = {.batch = 2, .height = 3, .width = 5},
                          .activation = kActivations[random.Int(0, 3)],
                          .kind = kKinds[random.Int(0, 2)]};
        ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
      }
    }
  }
}

// Numbers of more planes than a byte of some row holds are several bytes, for each group.
TEST(Bconv2d, GroupsOfManyBits) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (const Padding& padding : kPaddings) {
    const Layer layer{.spec = Padded({.in_channels = 64,
                                      .out_channels = 2 * random.Int(1, 70),
                                      .groups = 2,
                                      .window = {.height = {.taps = 2}, .width = {.taps = 3}},
                                      .bits_in = random.Int(6, 8),
                                      .bits_weights = random.Int(6, 8)},
                                     padding),
                      .image = {.batch = 1, .height = 3, .width = 4},
                      .activation = Activation::kNone,
                      .kind = kKinds[random.Int(0, 2)]};
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
  }
}

// Returns the bits of values or weights: mostly one.
int64_t RandomBits(Random& random) { return random.Int(0, 2) ? 1 : random.Int(2, 5); }

TEST(Bconv2d, FilterLargerThanImage) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  testing::Sample sample(random, std::ssize(kPadValues) * std::ssize(kKinds) * 4 * 4 * 3);
  for (PadValue value : kPadValues) {
    for (OutputKind kind : kKinds) {
      for (int64_t size : {1, 2, 3, 4}) {
        for (int64_t taps : {3, 4, 5, 7}) {
          for (int64_t dilation : {1, 2, 4}) {
            if (!sample.Takes()) continue;
            const Layer layer{.spec = {.in_channels = 40,
                                       .out_channels = 6,
                                       .window = {.height = {.taps = taps,
                                                             .stride = 1 + size % 2,
                                                             .dilation = dilation,
                                                             .padding = kSame},
                                                  .width = {.taps = taps - 1,
                                                            .stride = 1,
                                                            .dilation = dilation,
                                                            .padding = kSame}},
                                       .pad_value = value},
                              .image = {.batch = 1, .height = size, .width = size},
                              .activation = Activation::kNone,
                              .kind = kind};
            ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
          }
        }
      }
    }
  }
}

TEST(Bconv2d, Groups) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  testing::Sample sample(random, 3 * 3 * std::ssize(kPaddings));
  for (int64_t groups : {2, 3, 4}) {
    for (int64_t group_channels : {32, 64, 96}) {
      for (const Padding& padding : kPaddings) {
        if (!sample.Takes()) continue;
        const Layer layer{.spec = Padded({.in_channels = groups * group_channels,
                                          .out_channels = groups * 9,
                                          .groups = groups,
                                          .window = {.height = {.taps = 3}, .width = {.taps = 2}},
                                          .bits_in = RandomBits(random),
                                          .bits_weights = RandomBits(random)},
                                         padding),
                          .image = {.batch = 2, .height = 4, .width = 3},
                          .activation = Activation::kNone,
                          .kind = kKinds[groups % 3]};
        ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
      }
    }
  }
}

TEST(Bconv2d, DepthBeyondSixteenBits) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (OutputKind kind : kKinds) {
    const Layer layer{.spec = {.in_channels = 3072,
                               .out_channels = 4,
                               .window = SquareWindow({.taps = 5, .padding = kSame})},
                      .image = {.batch = 1, .height = 6, .width = 6},
                      .activation = Activation::kRelu,
                      .kind = kind};
    Operands o = RandomOperands(random, layer);
    // All bits differ, which gives the largest possible count, 76800.
    std::fill(o.input.values.begin(), o.input.values.end(), 1.0f);
    std::fill(o.input.bits.begin(), o.input.bits.end(), 0u);
    std::fill(o.filter.values.begin(), o.filter.values.end(), -1.0f);
    std::fill(o.filter.bits.begin(), o.filter.bits.end(), ~0u);
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, o));
  }
}

TEST(Bconv2d, RandomLayers) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  const int64_t layers = std::max<int64_t>(400 / testing::Share(), 1);
  for (int64_t repeat = 0; repeat < layers; ++repeat) {
    const Padding padding{
        .height = random.Int(0, 1) ? kSame : Pads(random.Int(0, 6), random.Int(0, 6)),
        .width = random.Int(0, 1) ? kSame : Pads(random.Int(0, 6), random.Int(0, 6)),
        .value = kPadValues[random.Int(0, 2)]};
    Bconv2dSpec spec{.in_channels = random.Int(1, 200),
                     .out_channels = random.Int(1, 70),
                     .window = {.height = {.taps = random.Int(1, 5),
                                           .stride = random.Int(1, 3),
                                           .dilation = random.Int(1, 2)},
                                .width = {.taps = random.Int(1, 5),
                                          .stride = random.Int(1, 3),
                                          .dilation = random.Int(1, 2)}},
                     .bits_in = RandomBits(random),
                     .bits_weights = RandomBits(random)};
    const auto least = [](const AxisPadding& axis) {
      return axis.same ? 1 : std::max<int64_t>(9 - axis.before - axis.after, 1);
    };
    const Layer layer{.spec = Padded(spec, padding),
                      .image = {.batch = random.Int(1, 3),
                                .height = random.Int(least(padding.height), 12),
                                .width = random.Int(least(padding.width), 12)},
                      .activation = kActivations[random.Int(0, 3)],
                      .kind = kKinds[random.Int(0, 2)]};
    ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
  }
}

// The cases have taps that fill little of their words, lines of taps that fit a word or do not, and
// pixels that share much, little or nothing of a line.
TEST(Bconv2d, FewChannels) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  testing::Sample sample(random, 40 * 8);
  for (int64_t in_channels = 1; in_channels <= 40; ++in_channels) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      if (!sample.Takes()) continue;
      const Padding& padding = kPaddings[random.Int(0, std::ssize(kPaddings) - 1)];
      const Layer layer{
          .spec =
              Padded({.in_channels = in_channels,
                      .out_channels = random.Int(1, 40),
                      .window = {.height = {.taps = random.Int(1, 5), .stride = random.Int(1, 2)},
                                 .width = {.taps = random.Int(1, 9),
                                           .stride = random.Int(1, 3),
                                           .dilation = random.Int(1, 4) / 4 + 1}},
                      .bits_in = RandomBits(random),
                      .bits_weights = RandomBits(random)},
                     padding),
          .image = {.batch = random.Int(1, 2),
                    .height = random.Int(5, 7),
                    .width = random.Int(17, 40)},
          .activation = Activation::kNone,
          .kind = kKinds[random.Int(0, 2)]};
      ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
    }
  }
}

// A row that checks its arguments and leaves the counting to a real one.
void ExpectAlignedRightSide(const BgemmArgs& args) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(args.rhs) % kBufferAlignment, 0u);
  BgemmRows()[0].fn(args);
}

TEST(Bconv2d, EveryGroupsFiltersAreAligned) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  BgemmRow row = BgemmRows()[0];
  row.fn = ExpectAlignedRightSide;
  const Layer layer{.spec = {.in_channels = 96, .out_channels = 9, .groups = 3},
                    .image = {.batch = 1, .height = 2, .width = 2},
                    .activation = Activation::kNone,
                    .kind = OutputKind::kFloat};
  const Operands o = RandomOperands(random, layer);
  Bconv2d conv(layer.spec, o.filter.bits.data(), MakeTransform(layer, o), row,
               SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), row.name)));
  conv.Resize(2, 2);
  AlignedBuffer<std::byte> scratch(conv.scratch_bytes());
  GuardedBuffer<std::byte> output(OutputBytes(layer, MakeTransform(layer, o)));
  conv.Run(o.input.bits.data(), 0, 4, 0, 1, scratch.data(), output.data());
  ASSERT_NO_FATAL_FAILURE(ExpectDefinition(layer, o, output.data()));
}

// Pixels of each tile that a row got; global, because a row is a plain function.
std::vector<size_t> tile_pixels;
void NoteTilePixels(const BgemmArgs& args) {
  tile_pixels.push_back(args.m);
  std::fill_n(args.acc, args.m * args.acc_stride, 0);
}

TEST(Bconv2d, OnlyTheLastTileHasHalfAStep) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  const Layer layer{.spec = {.in_channels = 32},
                    .image = {.batch = 1, .height = 7, .width = 7},
                    .activation = Activation::kNone,
                    .kind = OutputKind::kFloat};
  const Operands o = RandomOperands(random, layer);
  BgemmRow row = BgemmRows()[0];
  row.mr = 8;
  row.fn = NoteTilePixels;
  const auto run = [&](int mr_step) {
    row.mr_step = mr_step;
    Bconv2d conv(layer.spec, o.filter.bits.data(), MakeTransform(layer, o), row,
                 SelectPixelOps({}));
    EXPECT_EQ(conv.kernel_pixels().tile, 8);
    EXPECT_EQ(conv.kernel_pixels().step, mr_step);
    conv.Resize(7, 7);
    AlignedBuffer<std::byte> scratch(conv.scratch_bytes());
    GuardedBuffer<std::byte> output(OutputBytes(layer, MakeTransform(layer, o)));
    tile_pixels.clear();
    conv.Run(o.input.bits.data(), 0, 49, 0, 1, scratch.data(), output.data());
    return tile_pixels;
  };
  EXPECT_EQ(run(1), (std::vector<size_t>{7, 7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(run(2), (std::vector<size_t>{8, 8, 8, 8, 6, 6, 5}));
}

TEST(Bconv2d, FilterThatReachesFarOutside) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  const Layer layer{.spec = {.in_channels = 32,
                             .window = {.height = {.taps = 1 << 16,
                                                   .dilation = (int64_t{1} << 31) - 1,
                                                   .padding = kSame},
                                        .width = {.padding = kSame}},
                             .pad_value = PadValue::kZero},
                    .image = {.batch = 1, .height = 1, .width = 1 << 19},
                    .activation = Activation::kNone,
                    .kind = OutputKind::kFloat};
  const Operands o = RandomOperands(random, layer);
  Bconv2d conv(layer.spec, o.filter.bits.data(), MakeTransform(layer, o), BgemmRows()[0],
               SelectPixelOps({}));
  conv.Resize(1, 1 << 19);
  AlignedBuffer<std::byte> scratch(conv.scratch_bytes());
  GuardedBuffer<std::byte> output(OutputBytes(layer, MakeTransform(layer, o)));
  conv.Run(o.input.bits.data(), 0, 2, 0, 1, scratch.data(), output.data());
  // At most one row of taps can lie in the image; with an even number of taps none does.
  EXPECT_EQ(reinterpret_cast<const float*>(output.data())[0], 0 * o.multiplier[0] + o.bias[0]);
}

// The images have more lines than a worker holds as bytes at once (byte_lines.h).
TEST(Bconv2d, MoreLinesThanAreHeld) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  const auto expect = [&](Bconv2dSpec spec, PadValue value) {
    spec.in_channels = 128;
    spec.out_channels = 5;
    spec.window.height.padding = spec.window.width.padding = kSame;
    spec.pad_value = value;
    const Layer layer{.spec = spec,
                      .image = {.batch = 2, .height = 40, .width = 64},
                      .activation = Activation::kNone,
                      .kind = OutputKind::kFloat};
    ExpectRowsAgree(layer, RandomOperands(random, layer));
  };
  for (PadValue value : kPadValues) {
    expect({.window = SquareWindow({.taps = 3})}, value);
    expect({.window = {.height = {.taps = 2, .dilation = 7}, .width = {.taps = 3}}}, value);
  }
  expect({.window = SquareWindow({.taps = 3}), .bits_in = 2}, PadValue::kMinusOne);
  expect({.bits_in = 3, .bits_weights = 8}, PadValue::kOne);
}

// The tile ends in the row in which it began, but in the next image.
TEST(Bconv2d, TilesThatSpanImages) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (const Padding& padding : kPaddings) {
    for (const Image& image : {Image{9, 1, 5}, Image{5, 3, 3}, Image{40, 1, 3}, Image{3, 2, 7}}) {
      const Layer layer{.spec = Padded({.in_channels = 64,
                                        .out_channels = 33,
                                        .window = {.width = {.taps = 3, .stride = 2}}},
                                       padding),
                        .image = image,
                        .activation = Activation::kNone,
                        .kind = OutputKind::kFloat};
      ASSERT_NO_FATAL_FAILURE(ExpectRowsAgree(layer, RandomOperands(random, layer)));
    }
  }
}

TEST(Bconv2d, ResizeKeepsTheFilter) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  Layer layer{.spec = {.in_channels = 48,
                       .out_channels = 7,
                       .window = SquareWindow({.taps = 3, .padding = kSame}),
                       .pad_value = PadValue::kZero},
              .image = {.batch = 1, .height = 2, .width = 2},
              .activation = Activation::kNone,
              .kind = OutputKind::kFloat};
  const Operands o = RandomOperands(random, layer);
  Bconv2d conv(layer.spec, o.filter.bits.data(), MakeTransform(layer, o), BgemmRows()[0],
               SelectPixelOps({}));
  for (const Image& image : {Image{1, 2, 2}, Image{3, 9, 4}, Image{1, 1, 1}, Image{2, 3, 11}}) {
    layer.image = image;
    Operands resized = RandomOperands(random, layer);
    resized.filter = o.filter;
    resized.multiplier = o.multiplier;
    resized.bias = o.bias;
    conv.Resize(image.height, image.width);
    AlignedBuffer<std::byte> scratch(conv.scratch_bytes());
    GuardedBuffer<std::byte> output(OutputBytes(layer, MakeTransform(layer, o)));
    conv.Run(resized.input.bits.data(), 0, image.batch * image.height * image.width, 0, 1,
             scratch.data(), output.data());
    ASSERT_NO_FATAL_FAILURE(ExpectDefinition(layer, resized, output.data()));
  }
}

}  // namespace
}  // namespace larq_engine
