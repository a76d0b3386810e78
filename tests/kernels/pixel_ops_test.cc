// Tests every function of pixel_ops.h, over every row of the table, against scalar code written
// from the comments there. A row that this CPU lacks is skipped (kernel_rows_test.cc lists these
// rows).
#include "larq_engine/kernels/pixels/pixel_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/kernels/pixels/table.h"
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
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
constexpr FloatRange kNoRange = {-kInfinity, kInfinity};

// Returns an ordinary value, or, one time in four, a special one.
float AnyFloat(Random& random) {
  constexpr float kSpecial[] = {0.0f,       -0.0f,      1.0f,      -1.0f,     kInfinity,
                                -kInfinity, kNan,       -kNan,     kDenormal, -kDenormal,
                                0x1p-126f,  -0x1p-126f, 0x1p+127f, -0x1p+127f};
  const auto pick = static_cast<size_t>(random.Int(0, 4 * std::ssize(kSpecial) - 1));
  return pick < std::size(kSpecial) ? kSpecial[pick] : random.Float(-1.5f, 1.5f);
}

Floats AnyFloats(Random& random, size_t count) {
  Floats values(count);
  for (float& value : values) value = AnyFloat(random);
  return values;
}

bool Bit(const uint32_t* words, size_t channels, size_t row, size_t c) {
  return (words[row * WordsFor(channels) + c / kWordBits] >> (c % kWordBits)) & 1;
}

class PixelOpsTest : public testing::RowTest<PixelOpsRow> {
 protected:
  const PixelOps& ops() const { return *GetParam().ops; }
};

// Calls test(rows, channels, guard) for few rows of every width up to 130, for so many narrow ones
// that they are packed in several parts, and for rows of larger images, with a guard page on either
// side. Memory that ends at a page starts at any multiple of its elements.
template <typename Test>
void ForShapes(Random& random, const Test& test) {
  testing::Sample few_rows(random, 2 * 130 * 6), larger(random, 2 * 12);
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t channels = 1; channels <= 130; ++channels) {
      for (size_t rows : {1, 2, 3, 8, 21, 43}) {
        if (!few_rows.Takes()) continue;
        test(rows, channels, guard);
        if (::testing::Test::HasFatalFailure()) {
          FAIL() << rows << " rows of " << channels << " channels, guard "
                 << (guard == Guard::kBefore ? "before" : "after");
        }
      }
    }
    for (size_t channels : {192, 256, 257, 511}) test(17, channels, guard);
    for (size_t channels : {1, 3, 7, 8, 13, 16, 17, 31, 33, 63, 65, 127}) {
      if (!larger.Takes()) continue;
      test(9000 / channels, channels, guard);
    }
  }
}

// Bit c of row r must be `expected` of its value, and bits past the channels 0.
template <typename T, typename Expected>
void ExpectPacked(const std::vector<T>& in, size_t rows, size_t channels, const uint32_t* out,
                  const Expected& expected) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < WordsFor(channels) * kWordBits; ++c) {
      ASSERT_EQ(Bit(out, channels, r, c), c < channels && expected(in[r * channels + c]))
          << "row " << r << ", channel " << c;
    }
  }
}

TEST_P(PixelOpsTest, BitpackFloat) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Floats values = AnyFloats(random_, rows * channels);
    const GuardedBuffer<float> in{std::span(values), guard};
    GuardedBuffer<uint32_t> out(rows * WordsFor(channels), guard);
    std::fill_n(out.data(), out.size(), 0x5ca1ab1eu);
    ops().bitpack_float(in.data(), rows, channels, out.data());
    ExpectPacked(values, rows, channels, out.data(), [](float x) { return x < 0; });
  });
}

TEST_P(PixelOpsTest, BitpackFloatSpecialValues) {
  // Values and their bits: only values smaller than zero are -1.
  const std::pair<float, bool> cases[] = {{0.0f, false},
                                          {-0.0f, false},
                                          {kNan, false},
                                          {-kNan, false},
                                          {kInfinity, false},
                                          {-kInfinity, true},
                                          {kDenormal, false},
                                          {-kDenormal, true},
                                          {__builtin_bit_cast(float, 0xff800001u), false},
                                          {__builtin_bit_cast(float, 0xffffffffu), false},
                                          {std::numeric_limits<float>::lowest(), true}};
  for (size_t channels : {1, 32, 33, 64, 127}) {
    for (const auto& [value, bit] : cases) {
      const Floats in(channels, value);
      std::vector<uint32_t> out(WordsFor(channels));
      ops().bitpack_float(in.data(), 1, channels, out.data());
      ExpectPacked(in, 1, channels, out.data(), [bit = bit](float) { return bit; });
    }
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
// Access to the thread's float flags: those that flush denormals to zero, and what makes zero of
// results alone, where a CPU has that.
#if defined(__x86_64__)
constexpr uint64_t kDenormalsAreZero = 0x8040, kDenormalResultsAreZero = 0x8000;
uint64_t FloatFlags() { return __builtin_ia32_stmxcsr(); }
void SetFloatFlags(uint64_t flags) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(flags)); }
#else
constexpr uint64_t kDenormalsAreZero = 1 << 24, kDenormalResultsAreZero = kDenormalsAreZero;
uint64_t FloatFlags() {
  uint64_t flags;
  asm volatile("mrs %0, fpcr" : "=r"(flags));
  return flags;
}
void SetFloatFlags(uint64_t flags) { asm volatile("msr fpcr, %0" : : "r"(flags)); }
#endif

TEST_P(PixelOpsTest, BitpackFloatDoesNotDependOnTheThreadsFlags) {
  const Floats in(255, -kDenormal);
  std::vector<uint32_t> out(8);
  const uint64_t flags = FloatFlags();
  SetFloatFlags(flags | kDenormalsAreZero);
  ops().bitpack_float(in.data(), 1, 255, out.data());
  SetFloatFlags(flags);
  std::vector<uint32_t> expected(8, ~0u);
  expected.back() = ~0u >> 1;
  EXPECT_EQ(out, expected);
}

TEST_P(PixelOpsTest, AveragesBeginWithZeroWhateverTheThreadsFlagsAre) {
  constexpr size_t kCount = 67;
  const Floats small(kCount, 3 * kDenormal), normal(kCount, std::numeric_limits<float>::min());
  const float* taps[] = {small.data(), normal.data()};
  Floats out(kCount);
  const uint64_t flags = FloatFlags();
  SetFloatFlags(flags | kDenormalResultsAreZero);
  ops().average(taps, 2, kCount, 1, out.data());
  SetFloatFlags(flags);
  EXPECT_EQ(out, normal);  // 0 plus a denormal is flushed before the second tap is added
}
#endif

constexpr uint32_t kSignBit = 0x80000000;

bool IsBelow(float x, float limit, uint32_t sign) { return std::isless(sign == 0 ? x : -x, limit); }

TEST_P(PixelOpsTest, BitpackFloatLimits) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Floats limits = AnyFloats(random_, channels);
    std::vector<uint32_t> signs(channels);
    for (uint32_t& sign : signs) sign = random_.Int(0, 1) ? kSignBit : 0;
    Floats values = AnyFloats(random_, rows * channels);
    for (size_t i = 0; i < values.size(); ++i) {
      // Every second value is next to its limit, on the side that the sign leaves.
      const float limit = limits[i % channels];
      const float end = random_.Int(0, 1) ? kInfinity : -kInfinity;
      const float beside = random_.Int(0, 1) ? limit : std::nextafter(limit, end);
      if (random_.Int(0, 1)) values[i] = signs[i % channels] == 0 ? beside : -beside;
    }
    const GuardedBuffer<float> in{std::span<const float>(values), guard};
    const GuardedBuffer<float> limits_in{std::span(limits), guard};
    const GuardedBuffer<uint32_t> signs_in{std::span<const uint32_t>(signs), guard};
    // Rows of whole words may have gaps between them.
    constexpr uint32_t kUntouched = 0x5ca1ab1e;
    const size_t words = WordsFor(channels);
    const size_t stride = words + (channels % kWordBits == 0 ? random_.Int(0, 3) : 0);
    GuardedBuffer<uint32_t> out((rows - 1) * stride + words, guard);
    std::fill_n(out.data(), out.size(), kUntouched);
    ops().bitpack_float_limits(in.data(), limits_in.data(), signs_in.data(), rows, channels,
                               out.data(), stride);
    for (size_t row = 0; row < rows; ++row) {
      const uint32_t* packed = out.data() + row * stride;
      for (size_t c = 0; c < words * kWordBits; ++c) {
        ASSERT_EQ(Bit(packed, channels, 0, c),
                  c < channels && IsBelow(values[row * channels + c], limits[c], signs[c]))
            << "row " << row << ", channel " << c;
      }
      for (size_t w = words; w < stride && row + 1 < rows; ++w) ASSERT_EQ(packed[w], kUntouched);
    }
  });
}

TEST_P(PixelOpsTest, BitpackFloatLimitsSpecialValues) {
  struct Case {
    float value;
    float limit;
    uint32_t sign;
    bool bit;
  };
  constexpr Case cases[] = {{kNan, kInfinity, 0, false},
                            {kNan, kInfinity, kSignBit, false},
                            {-kNan, kInfinity, 0, false},
                            {kInfinity, kInfinity, 0, false},
                            {-kInfinity, kInfinity, 0, true},
                            {kInfinity, kInfinity, kSignBit, true},
                            {-kInfinity, kInfinity, kSignBit, false},
                            {-0.0f, 0.0f, 0, false},
                            {0.0f, -0.0f, kSignBit, false},
                            {0.0f, kDenormal, 0, true},
                            {-kDenormal, 0.0f, 0, true},
                            {kDenormal, 0.0f, kSignBit, true}};
  for (size_t channels : {1, 32, 33, 64, 127}) {
    for (const auto& [value, limit, sign, bit] : cases) {
      const Floats in(channels, value), limits(channels, limit);
      const std::vector<uint32_t> signs(channels, sign);
      std::vector<uint32_t> out(WordsFor(channels));
      ops().bitpack_float_limits(in.data(), limits.data(), signs.data(), 1, channels, out.data(),
                                 WordsFor(channels));
      ExpectPacked(in, 1, channels, out.data(), [bit = bit](float) { return bit; });
    }
  }
}

TEST_P(PixelOpsTest, BitpackInt8) {
  constexpr int32_t kZeroPoints[] = {-1000, -129, -128, -127, -42, -1, 0, 23, 127, 128, 129, 1000};
  size_t turn = 0;
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const int32_t zero_point = kZeroPoints[turn++ % std::size(kZeroPoints)];
    std::vector<int8_t> values(rows * channels);
    for (int8_t& value : values) {
      // Every second value is next to the zero point or, at the ends of the range, at the other
      // end.
      const int64_t beside = zero_point + random_.Int(-1, 1);
      value = static_cast<int8_t>(random_.Int(0, 1) ? random_.Int(-128, 127) : beside);
    }
    const GuardedBuffer<int8_t> in{std::span<const int8_t>(values), guard};
    GuardedBuffer<uint32_t> out(rows * WordsFor(channels), guard);
    ops().bitpack_int8(in.data(), rows, channels, zero_point, out.data());
    ExpectPacked(values, rows, channels, out.data(), [&](int8_t x) { return x < zero_point; });
  });
}

TEST_P(PixelOpsTest, BitpackBoolOfAnyByteButZeroIsTrue) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    std::vector<uint8_t> values(rows * channels);
    for (uint8_t& value : values) {
      value = static_cast<uint8_t>(random_.Int(0, 1) ? random_.Int(0, 255) : 0);
    }
    const GuardedBuffer<uint8_t> in{std::span<const uint8_t>(values), guard};
    GuardedBuffer<uint32_t> out(rows * WordsFor(channels), guard);
    ops().bitpack_bool(in.data(), rows, channels, out.data());
    ExpectPacked(values, rows, channels, out.data(), [](uint8_t x) { return x == 0; });
  });
}

TEST_P(PixelOpsTest, Unpack) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    // Bits past the channels are not 0 here, and must not change any value.
    const std::vector<uint32_t> words = random_.Words(rows * WordsFor(channels));
    const GuardedBuffer<uint32_t> in{std::span(words), guard};
    GuardedBuffer<float> floats(rows * channels, guard);
    GuardedBuffer<int8_t> ints(rows * channels, guard);
    GuardedBuffer<uint8_t> bools(rows * channels, guard);
    ops().unpack_float(in.data(), rows, channels, floats.data());
    ops().unpack_int8(in.data(), rows, channels, 9, -3, ints.data());
    ops().unpack_bool(in.data(), rows, channels, bools.data());
    for (size_t i = 0; i < rows * channels; ++i) {
      const bool minus = Bit(words.data(), channels, i / channels, i % channels);
      ASSERT_EQ(floats.data()[i], minus ? -1.0f : 1.0f) << i;
      ASSERT_EQ(ints.data()[i], minus ? -3 : 9) << i;
      ASSERT_EQ(bools.data()[i], minus ? 0 : 1) << i;
    }
  });
}

TEST_P(PixelOpsTest, MaxBits) {
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t words = 1; words <= 70; ++words) {
      const std::vector<uint32_t> a = random_.Words(words), b = random_.Words(words);
      const GuardedBuffer<uint32_t> in{std::span(a), guard};
      const GuardedBuffer<uint32_t> other{std::span(b), guard};
      const uint32_t* const taps[] = {in.data(), other.data(), in.data()};
      for (size_t tap_count : {1, 2, 3}) {
        GuardedBuffer<uint32_t> out(words, guard);
        ops().max_bits(taps, tap_count, words, out.data());
        for (size_t i = 0; i < words; ++i) {
          ASSERT_EQ(out.data()[i], tap_count == 1 ? a[i] : a[i] & b[i]) << words;
        }
      }
    }
  }
}

// Runs a function of floats with separate memory for the output, and with the output in the place
// of an input.
template <typename Run, typename Expected>
void ExpectFloats(const Floats& a, const Floats& b, Guard guard, const Run& run,
                  const Expected& expected) {
  const GuardedBuffer<float> in_a{std::span(a), guard}, in_b{std::span(b), guard};
  GuardedBuffer<float> apart(a.size(), guard);
  run(in_a.data(), in_b.data(), apart.data());
  GuardedBuffer<float> as_a{std::span(a), guard};
  run(as_a.data(), in_b.data(), as_a.data());
  GuardedBuffer<float> as_b{std::span(b), guard};
  if (b.size() == a.size()) run(in_a.data(), as_b.data(), as_b.data());
  for (size_t i = 0; i < a.size(); ++i) {
    const float y = expected(a[i], b[i % b.size()]);
    ASSERT_TRUE(SameFloat(apart.data()[i], y)) << i << ": " << apart.data()[i] << " not " << y;
    ASSERT_TRUE(SameFloat(as_a.data()[i], y)) << i << " in place of a";
    if (b.size() == a.size()) {
      ASSERT_TRUE(SameFloat(as_b.data()[i], y)) << i << " in place of b";
    }
  }
}

float Clamped(float x, FloatRange range) {
  if (std::isnan(x)) return x;
  if (x < range.min) x = range.min;
  if (x > range.max) x = range.max;
  return x;
}

// Some ranges have zeros of the other sign, infinite ends, or a minimum above the maximum.
constexpr FloatRange kRanges[] = {kNoRange,      {0, kInfinity}, {-0.0f, 6}, {-1, 1},
                                  {-1e9f, 0.0f}, {0.5f, 0.5f},   {1, -1}};

TEST_P(PixelOpsTest, AddMultiplyClamp) {
  size_t turn = 0;
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const FloatRange range = kRanges[turn++ % std::size(kRanges)];
    const size_t count = rows * channels;
    const Floats a = AnyFloats(random_, count), b = AnyFloats(random_, count);
    ExpectFloats(
        a, b, guard,
        [&](const float* x, const float* y, float* z) { ops().add(x, y, count, range, z); },
        [&](float x, float y) { return Clamped(x + y, range); });
    ExpectFloats(
        a, b, guard,
        [&](const float* x, const float* y, float* z) { ops().multiply(x, y, count, range, z); },
        [&](float x, float y) { return Clamped(x * y, range); });
    ExpectFloats(
        a, Floats(1), guard,
        [&](const float* x, const float*, float* z) { ops().clamp(x, count, range, z); },
        [&](float x, float) { return Clamped(x, range); });
  });
}

TEST_P(PixelOpsTest, AddMultiplyPreluChannels) {
  size_t turn = 0;
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const FloatRange range = kRanges[turn++ % std::size(kRanges)];
    const Floats a = AnyFloats(random_, rows * channels), b = AnyFloats(random_, channels);
    // With one row, b is as long as a, and may be the output, too.
    ExpectFloats(
        a, b, guard,
        [&](const float* x, const float* y, float* z) {
          ops().add_channels(x, y, rows, channels, range, z);
        },
        [&](float x, float y) { return Clamped(x + y, range); });
    ExpectFloats(
        a, b, guard,
        [&](const float* x, const float* y, float* z) {
          ops().multiply_channels(x, y, rows, channels, range, z);
        },
        [&](float x, float y) { return Clamped(x * y, range); });
    ExpectFloats(
        a, b, guard,
        [&](const float* x, const float* y, float* z) { ops().prelu(x, y, rows, channels, z); },
        [&](float x, float y) { return x < 0 ? x * y : x; });
  });
}

TEST_P(PixelOpsTest, MaxFloat) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const size_t count = rows * channels;
    const Floats a = AnyFloats(random_, count), b = AnyFloats(random_, count);
    const Floats c = AnyFloats(random_, count);
    const GuardedBuffer<float> first{std::span(a), guard}, second{std::span(b), guard},
        third{std::span(c), guard};
    const float* const taps[] = {first.data(), second.data(), third.data()};
    for (size_t tap_count : {1, 2, 3}) {
      GuardedBuffer<float> out(count, guard);
      ops().max_float(taps, tap_count, count, out.data());
      for (size_t i = 0; i < count; ++i) {
        // Only a greater value replaces one; a NaN is not greater, and nothing is greater than a
        // NaN.
        float expected = a[i];
        if (tap_count > 1 && std::isgreater(b[i], expected)) expected = b[i];
        if (tap_count > 2 && std::isgreater(c[i], expected)) expected = c[i];
        ASSERT_TRUE(SameFloat(out.data()[i], expected)) << i << ": " << a[i] << ", " << b[i];
      }
    }
  });
}

TEST_P(PixelOpsTest, MaxProducts) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const size_t count = rows * channels;
    const Floats a = AnyFloats(random_, count), b = AnyFloats(random_, count);
    const Floats factors = AnyFloats(random_, count);
    const GuardedBuffer<float> first{std::span(a), guard}, second{std::span(b), guard},
        guarded_factors{std::span(factors), guard};
    const float* const taps[] = {first.data(), second.data(), first.data()};
    for (size_t tap_count : {1, 2, 3}) {
      GuardedBuffer<float> out(count, guard);
      ops().max_products(taps, tap_count, guarded_factors.data(), count, out.data());
      for (size_t i = 0; i < count; ++i) {
        float expected = a[i] * factors[i];
        const float other = b[i] * factors[i], again = a[i] * factors[i];
        if (tap_count > 1 && std::isgreater(other, expected)) expected = other;
        if (tap_count > 2 && std::isgreater(again, expected)) expected = again;
        ASSERT_TRUE(SameFloat(out.data()[i], expected)) << i << ": " << a[i] << ", " << b[i];
      }
    }
  });
}

TEST_P(PixelOpsTest, Average) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const size_t count = rows * channels;
    const Floats a = AnyFloats(random_, count), b = AnyFloats(random_, count);
    const Floats c = AnyFloats(random_, count);
    const GuardedBuffer<float> second{std::span(b), guard}, third{std::span(c), guard};
    for (size_t tap_count : {1, 2, 3}) {
      for (float divisor : {1.0f, 3.0f}) {
        GuardedBuffer<float> out{std::span(a), guard};  // holds the sum of earlier taps
        const float* const taps[] = {out.data(), second.data(), third.data()};
        ops().average(taps, tap_count, count, divisor, out.data());
        for (size_t i = 0; i < count; ++i) {
          float expected = 0.0f + a[i];
          if (tap_count > 1) expected += b[i];
          if (tap_count > 2) expected += c[i];
          ASSERT_TRUE(SameFloat(out.data()[i], expected / divisor)) << i << ": " << a[i];
        }
      }
    }
  });
}

TEST_P(PixelOpsTest, Dense) {
  for (size_t units : {0, 1, 7, 8, 15, 16, 31, 33, 64, 65, 150}) {
    for (size_t depth : {0, 1, 3, 20}) {
      for (Guard guard : {Guard::kAfter, Guard::kBefore}) {
        const Floats in = AnyFloats(random_, depth), weights = AnyFloats(random_, depth * units);
        const GuardedBuffer<float> guarded_in{std::span(in), guard},
            guarded_weights{std::span(weights), guard};
        GuardedBuffer<float> out(units, guard);
        ops().dense(guarded_in.data(), guarded_weights.data(), depth, units, out.data());
        for (size_t u = 0; u < units; ++u) {
          float expected = 0;
          for (size_t d = 0; d < depth; ++d) expected += in[d] * weights[d * units + u];
          ASSERT_TRUE(SameFloat(out.data()[u], expected)) << u << " of " << units;
        }
      }
    }
  }
}

// Transforms.

struct Transformed {
  size_t rows;
  size_t channels;
  std::vector<int32_t> acc;  // [rows][channels + 2]
  std::vector<int32_t> depth;
  Floats multiplier;
  Floats bias;
  int32_t dot_min = INT32_MIN;
  int32_t dot_max = INT32_MAX;
  int32_t zero_point = 0;
  std::vector<int32_t> dot_limit;

  size_t acc_stride() const { return channels + 2; }
  int64_t Dot(size_t i, size_t j) const {
    return int64_t{depth[i]} - 2 * int64_t{acc[i * acc_stride() + j]};
  }
  float Affine(size_t i, size_t j) const {
    const int64_t dot = std::max<int64_t>(std::min<int64_t>(Dot(i, j), dot_max), dot_min);
    // The product is rounded to float before the sum, whatever flags this file is compiled with.
    const volatile float product = static_cast<float>(dot) * multiplier[j];
    return product + bias[j];
  }
};

Transformed AnyTransformed(Random& random, size_t rows, size_t channels) {
  // The depths include the greatest that int16 and floats hold, and one more.
  constexpr int32_t kDepths[] = {0,       1,       576,           (1 << 15) - 1,
                                 1 << 15, 1 << 24, (1 << 24) + 1, INT32_MAX};
  constexpr std::pair<int32_t, int32_t> kDotRanges[] = {
      {INT32_MIN, INT32_MAX},    {INT32_MIN, INT32_MAX}, {0, INT32_MAX}, {-1, 1}, {0, 6},
      {(1 << 24) + 1, INT32_MAX}};
  constexpr float kBiases[] = {0, 0.5f, -0.25f, 0.49999997f, -0.49999997f, 200, kInfinity, kNan};
  Transformed t{.rows = rows,
                .channels = channels,
                .acc = {},
                .depth = {},
                .multiplier = {},
                .bias = {},
                .zero_point = static_cast<int32_t>(random.Int(-128, 127)),
                .dot_limit = {}};
  std::tie(t.dot_min, t.dot_max) =
      kDotRanges[static_cast<size_t>(random.Int(0, std::ssize(kDotRanges) - 1))];
  const bool small = random.Int(0, 1) == 1;  // so that values often meet halves and limits
  const bool huge = random.Int(0, 7) == 0;   // a multiplier whose double is infinite
  for (size_t i = 0; i < rows; ++i) {
    const int32_t depth = kDepths[static_cast<size_t>(random.Int(0, std::ssize(kDepths) - 1))];
    // Often the depth is the same as before, as in the inside of an image.
    t.depth.push_back(i > 0 && random.Int(0, 1) ? t.depth.back() : small ? depth % 577 : depth);
    for (size_t j = 0; j < t.acc_stride(); ++j) {
      const int64_t acc = random.Int(0, t.depth[i]);
      t.acc.push_back(random.Int(0, 15) == 0 ? t.depth[i] : static_cast<int32_t>(acc));
    }
  }
  for (size_t j = 0; j < channels; ++j) {
    const int64_t pick = random.Int(0, 3);
    const float half = huge ? 0x1.5p+127f : 0.5f;
    t.multiplier.push_back(pick == 0 ? half : pick == 1 ? -0.25f : random.Float(-1, 1));
    const bool listed = random.Int(0, 1) == 1;
    t.bias.push_back(listed ? kBiases[static_cast<size_t>(random.Int(0, std::ssize(kBiases) - 1))]
                            : random.Float(-30, 30));
    // Two of three limits are next to a dot product, the others are as far off as possible.
    const int64_t dot =
        t.Dot(static_cast<size_t>(random.Int(0, static_cast<int64_t>(rows) - 1)), j);
    const int64_t limit = std::clamp<int64_t>(dot + random.Int(-1, 2), INT32_MIN, INT32_MAX);
    t.dot_limit.push_back(pick == 0 ? (listed ? INT32_MIN : INT32_MAX)
                                    : static_cast<int32_t>(limit));
  }
  return t;
}

// Runs `transform` with every input at a guard page; `check(i, row)` checks a row of the output.
// The bytes between the rows of the output must stay unchanged.
template <typename T, typename Check>
void RunTransform(void (*transform)(const TransformArgs&), const Transformed& t, size_t row_values,
                  Guard guard, const Check& check) {
  const std::span<const int32_t> acc(t.acc);  // without the gap after the last row's channels
  const GuardedBuffer<int32_t> guarded_acc(acc.first(acc.size() - 2), guard);
  const GuardedBuffer<int32_t> depth{std::span(t.depth), guard};
  const GuardedBuffer<float> multiplier{std::span(t.multiplier), guard};
  const GuardedBuffer<float> bias{std::span(t.bias), guard};
  const GuardedBuffer<int32_t> dot_limit{std::span(t.dot_limit), guard};
  const size_t stride = row_values + 3;
  GuardedBuffer<T> out(t.rows * stride - 3, guard);
  const T canary = static_cast<T>(77);
  std::fill_n(out.data(), out.size(), canary);
  transform({.rows = t.rows,
             .channels = t.channels,
             .acc = guarded_acc.data(),
             .acc_stride = t.acc_stride(),
             .depth = depth.data(),
             .multiplier = multiplier.data(),
             .bias = bias.data(),
             .dot_min = t.dot_min,
             .dot_max = t.dot_max,
             .zero_point = t.zero_point,
             .dot_limit = dot_limit.data(),
             .out = out.data(),
             .out_stride = stride * sizeof(T)});
  for (size_t i = 0; i < t.rows; ++i) {
    check(i, out.data() + i * stride);
    for (size_t j = row_values; i + 1 < t.rows && j < stride; ++j) {
      ASSERT_EQ(out.data()[i * stride + j], canary) << "after row " << i;
    }
  }
}

TEST_P(PixelOpsTest, ToFloat) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Transformed t = AnyTransformed(random_, rows, channels);
    RunTransform<float>(ops().to_float, t, channels, guard, [&](size_t i, const float* row) {
      for (size_t j = 0; j < channels; ++j) {
        ASSERT_TRUE(SameFloat(row[j], t.Affine(i, j)))
            << "row " << i << ", channel " << j << ": " << row[j] << " not " << t.Affine(i, j);
      }
    });
  });
}

// Returns the residual sum of one row and channel, as the comment of ResidualSum defines it.
float SumOf(const ResidualSum& sum, float y, float addend, size_t channel) {
  if (sum.gate != nullptr) y *= sum.gate[channel];
  if (sum.gate != nullptr && y < 0) y *= sum.slopes[channel];
  y += addend;
  if (y < sum.range.min) return sum.range.min;
  return y > sum.range.max ? sum.range.max : y;
}

// The addend lies where the outputs go, as a shortcut mostly does, or elsewhere.
TEST_P(PixelOpsTest, ToFloatComputesResidualSums) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Transformed t = AnyTransformed(random_, rows, channels);
    const size_t stride = channels + 3;
    const Floats addend = AnyFloats(random_, rows * stride - 3);
    const Floats gate = AnyFloats(random_, channels), slopes = AnyFloats(random_, channels);
    const GuardedBuffer<float> gates(std::span<const float>(gate), guard);
    const GuardedBuffer<float> guarded_slopes(std::span<const float>(slopes), guard);
    const FloatRange all = ResidualSum{}.range;
    const FloatRange ranges[] = {all, {0, all.max}, {all.min, 6}, {-1, 6}};
    for (const auto& [in_place, gated] :
         {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
      GuardedBuffer<float> out(std::span<const float>(addend), guard);
      const GuardedBuffer<float> apart(std::span<const float>(addend), guard);
      ResidualSum sum = {.addend = in_place ? out.data() : apart.data(),
                         .range = ranges[random_.Int(0, 3)]};
      if (gated) {
        sum.gate = gates.data();
        sum.slopes = guarded_slopes.data();
      }
      ops().to_float({.rows = rows,
                      .channels = channels,
                      .acc = t.acc.data(),
                      .acc_stride = t.acc_stride(),
                      .depth = t.depth.data(),
                      .multiplier = t.multiplier.data(),
                      .bias = t.bias.data(),
                      .dot_min = t.dot_min,
                      .dot_max = t.dot_max,
                      .zero_point = t.zero_point,
                      .dot_limit = nullptr,
                      .out = out.data(),
                      .out_stride = stride * sizeof(float),
                      .sum = sum});
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < stride && i * stride + j < addend.size(); ++j) {
          const size_t at = i * stride + j;
          // The gaps between the rows must stay unchanged.
          const float expected =
              j < channels ? SumOf(sum, t.Affine(i, j), addend[at], j) : addend[at];
          ASSERT_TRUE(SameFloat(out.data()[at], expected))
              << "row " << i << ", channel " << j << ": " << out.data()[at] << " not " << expected;
        }
      }
    }
  });
}

TEST_P(PixelOpsTest, ToInt8) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Transformed t = AnyTransformed(random_, rows, channels);
    RunTransform<int8_t>(ops().to_int8, t, channels, guard, [&](size_t i, const int8_t* row) {
      for (size_t j = 0; j < channels; ++j) {
        const float y = t.Affine(i, j);
        const double q = std::round(double{y}) + t.zero_point;
        const int expected = std::isnan(y) ? -128 : static_cast<int>(std::clamp(q, -128.0, 127.0));
        ASSERT_EQ(row[j], expected) << "row " << i << ", channel " << j << ": " << y;
      }
    });
  });
}

TEST_P(PixelOpsTest, ToInt8RoundsHalvesAwayFromZero) {
  // The inputs are all halves of the range, the floats next to them, and values that cannot be
  // converted to int.
  Transformed t{.rows = 1,
                .channels = 0,
                .acc = {},
                .depth = {0},
                .multiplier = {},
                .bias = {},
                .dot_limit = {}};
  for (float half = -200.5f; half <= 200.5f; half += 0.5f) {
    for (float to : {-kInfinity, half, kInfinity}) t.bias.push_back(std::nextafter(half, to));
  }
  t.bias.insert(t.bias.end(), {kInfinity, -kInfinity, kNan, 3e9f, -3e9f, 1e30f, -1e30f});
  t.channels = t.bias.size();
  t.multiplier.assign(t.channels, 0);
  t.acc.assign(t.acc_stride(), 0);
  for (int32_t zero_point : {-128, -1, 0, 7, 127}) {
    t.zero_point = zero_point;
    RunTransform<int8_t>(
        ops().to_int8, t, t.channels, Guard::kAfter, [&](size_t, const int8_t* row) {
          for (size_t j = 0; j < t.channels; ++j) {
            const double q = std::round(double{t.bias[j]}) + zero_point;
            const int expected =
                std::isnan(q) ? -128 : static_cast<int>(std::clamp(q, -128.0, 127.0));
            ASSERT_EQ(row[j], expected) << t.bias[j] << ", zero point " << zero_point;
          }
        });
  }
}

TEST_P(PixelOpsTest, ToBits) {
  ForShapes(random_, [&](size_t rows, size_t channels, Guard guard) {
    const Transformed t = AnyTransformed(random_, rows, channels);
    RunTransform<uint32_t>(
        ops().to_bits, t, WordsFor(channels), guard, [&](size_t i, const uint32_t* row) {
          for (size_t j = 0; j < WordsFor(channels) * kWordBits; ++j) {
            ASSERT_EQ(Bit(row, channels, 0, j), j < channels && t.Dot(i, j) < t.dot_limit[j])
                << "row " << i << ", channel " << j << ": depth " << t.depth[i];
          }
        });
  });
}

TEST_P(PixelOpsTest, AddShifted) {
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t count = 0; count <= 200; ++count) {
      const int shift = static_cast<int>(random_.Int(0, 6));
      std::vector<int32_t> values(count), before(count);
      for (int32_t& value : values) value = static_cast<int32_t>(random_.Int(0, 1 << 20));
      for (int32_t& value : before) value = static_cast<int32_t>(random_.Int(-(1 << 28), 1 << 28));
      const GuardedBuffer<int32_t> in{std::span<const int32_t>(values), guard};
      GuardedBuffer<int32_t> acc{std::span<const int32_t>(before), guard};
      ops().add_shifted(in.data(), count, shift, acc.data());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(acc.data()[i], before[i] + values[i] * (1 << shift)) << i << " of " << count;
      }
    }
  }
}

TEST_P(PixelOpsTest, RoundSums) {
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t count = 0; count <= 200; ++count) {
      const auto zero_point = static_cast<int32_t>(random_.Int(-128, 127));
      const FloatRange range = {static_cast<float>(random_.Int(-128, 0) - zero_point),
                                static_cast<float>(random_.Int(0, 127) - zero_point)};
      std::vector<int32_t> values(count);
      std::vector<float> multipliers(count, 0.25f);  // makes halves, too
      for (int32_t& value : values) value = static_cast<int32_t>(random_.Int(-600, 600));
      for (size_t i = 0; i < count; i += 3) {
        values[i] = static_cast<int32_t>(random_.Word());
        multipliers[i] = random_.Float(0, 256);
      }
      for (size_t i = 1; i < count; i += 3) multipliers[i] = random_.Float(0, 1);
      const GuardedBuffer<int32_t> sums{std::span<const int32_t>(values), guard};
      const GuardedBuffer<float> by{std::span<const float>(multipliers), guard};
      GuardedBuffer<int8_t> out(count, guard);
      ops().round_sums(sums.data(), by.data(), count, range, zero_point, out.data());
      for (size_t i = 0; i < count; ++i) {
        const float rounded = std::nearbyint(static_cast<float>(values[i]) * multipliers[i]);
        const float kept = std::fmin(std::fmax(rounded, range.min), range.max);
        ASSERT_EQ(out.data()[i], static_cast<int32_t>(kept) + zero_point)
            << values[i] << " times " << multipliers[i] << ", " << i << " of " << count;
      }
    }
  }
}

TEST_P(PixelOpsTest, RoundFloats) {
  const float kInfinity = std::numeric_limits<float>::infinity();
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t count = 0; count <= 200; ++count) {
      const auto zero_point = static_cast<int32_t>(random_.Int(-128, 127));
      const FloatRange range = {static_cast<float>(-128 - zero_point),
                                static_cast<float>(127 - zero_point)};
      std::vector<float> values(count);
      for (float& value : values)
        value = static_cast<float>(random_.Int(-600, 600));  // halves, too
      for (size_t i = 0; i < count; i += 3) values[i] = random_.Float(-300, 300);
      const float kinds[] = {kInfinity, -kInfinity, std::nanf(""), -0.0f, 1e-40f, 3e38f};
      for (size_t i = 1; i < count; i += 5) values[i] = kinds[i / 5 % std::size(kinds)];
      const GuardedBuffer<float> in{std::span<const float>(values), guard};
      GuardedBuffer<int8_t> out(count, guard);
      ops().round_floats(in.data(), count, 0.5f, range, zero_point, out.data());
      for (size_t i = 0; i < count; ++i) {
        const float rounded = std::nearbyint(values[i] * 0.5f);
        const float kept = std::fmax(rounded < range.max ? rounded : range.max, range.min);
        ASSERT_EQ(out.data()[i], static_cast<int32_t>(kept) + zero_point)
            << values[i] << ", " << i << " of " << count;
      }
    }
  }
}

template <typename T>
void ExpectScaled(void (*scale_bytes)(const T*, size_t, int32_t, float, float*), Random& random) {
  for (size_t count : {0, 1, 15, 16, 17, 100, 1000}) {
    std::vector<T> bytes(count);
    for (T& byte : bytes) byte = static_cast<T>(random.Word());
    const auto zero_point = static_cast<T>(random.Word());
    const float scale = AnyFloat(random);
    const GuardedBuffer<T> in{std::span(std::as_const(bytes))};
    GuardedBuffer<float> out(count);
    scale_bytes(in.data(), count, zero_point, scale, out.data());
    for (size_t i = 0; i < count; ++i) {
      const float expected = static_cast<float>(bytes[i] - zero_point) * scale;
      ASSERT_TRUE(SameFloat(out.data()[i], expected)) << i << " of " << count;
    }
  }
}

TEST_P(PixelOpsTest, ScaleBytes) {
  ExpectScaled(ops().scale_uint8, random_);
  ExpectScaled(ops().scale_int8, random_);
}

// The errors of a softmax, in parts of 2^-23 of the result. For a difference d from the greatest
// value: beta * d is rounded twice, which adds |beta * d|, and exp adds 1. The sum has an average
// of these errors, and half a part from each of its additions; the division adds half a part.
TEST_P(PixelOpsTest, Softmax) {
  for (const size_t channels : {1, 2, 15, 16, 17, 100, 1000}) {
    for (const float beta : {1.0f, 0.3f, 0.0f, -2.0f}) {
      for (const float reach : {0.01f, 5.0f, 200.0f}) {
        const size_t rows = 3;
        Floats values(rows * channels);
        for (float& value : values) value = random_.Float(-reach, reach);
        const GuardedBuffer<float> in{std::span(std::as_const(values))};
        GuardedBuffer<float> out(values.size()), in_place{std::span(std::as_const(values))};
        ops().softmax(in.data(), rows, channels, beta, out.data());
        ops().softmax(in_place.data(), rows, channels, beta, in_place.data());
        for (size_t row = 0; row < rows; ++row) {
          const float* x = values.data() + row * channels;
          double greatest = -kInfinity, sum = 0, error = 0;
          for (size_t c = 0; c < channels; ++c) greatest = std::max<double>(greatest, beta * x[c]);
          for (size_t c = 0; c < channels; ++c) {
            const double exponent = double{beta} * x[c] - greatest;
            sum += std::exp(exponent);
            error += std::exp(exponent) * (1 - exponent);
          }
          const double of_sum = error / sum + static_cast<double>(channels / 16 + 5) / 2;
          for (size_t c = 0; c < channels; ++c) {
            const double exponent = double{beta} * x[c] - greatest;
            const double expected = std::exp(exponent) / sum;
            const double parts = 1 - exponent + of_sum + 0.5;
            const float y = out.data()[row * channels + c];
            ASSERT_NEAR(y, expected, 0x1p-125 + parts * 0x1p-23 * expected)
                << c << " of " << channels << ", beta " << beta << ", reach " << reach;
            ASSERT_TRUE(SameFloat(in_place.data()[row * channels + c], y)) << c;
          }
        }
      }
    }
  }
}

TEST_P(PixelOpsTest, SoftmaxOfSpecialValues) {
  const auto softmax = [&](Floats row) {
    ops().softmax(row.data(), 1, row.size(), 1.0f, row.data());
    return row;
  };
  // Values far below the greatest one get nothing of the sum, however great all are.
  EXPECT_EQ(softmax({3e38f, -kInfinity, 3e38f, -3e38f}), (Floats{0.5f, 0, 0.5f, 0}));
  for (const Floats& row : {Floats(20, kNan), Floats(20, -kInfinity), Floats{1, kNan, 2},
                            Floats{1, 2, kInfinity}, Floats{kInfinity, kInfinity}}) {
    for (float value : softmax(row)) EXPECT_TRUE(std::isnan(value)) << value;
  }
  for (const float nothing : softmax(Floats(16, 0.0f))) EXPECT_EQ(nothing, 1.0f / 16);
}

TEST_P(PixelOpsTest, Logistic) {
  for (const float reach : {0.001f, 1.0f, 20.0f, 200.0f}) {
    Floats values(1003);
    for (float& value : values) value = random_.Float(-reach, reach);
    const GuardedBuffer<float> in{std::span(std::as_const(values))};
    GuardedBuffer<float> out(values.size()), in_place{std::span(std::as_const(values))};
    ops().logistic(in.data(), values.size(), out.data());
    ops().logistic(in_place.data(), values.size(), in_place.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = 1 / (1 + std::exp(-double{values[i]}));
      ASSERT_NEAR(out.data()[i], expected, 0x1p-125 + 3 * 0x1p-23 * expected) << values[i];
      ASSERT_TRUE(SameFloat(in_place.data()[i], out.data()[i])) << values[i];
    }
  }
  Floats special = {kInfinity, -kInfinity, 0.0f, -0.0f, kDenormal, kNan};
  ops().logistic(special.data(), special.size(), special.data());
  EXPECT_TRUE(std::isnan(special.back()));
  special.pop_back();
  EXPECT_EQ(special, (Floats{1, 0, 0.5f, 0.5f, 0.5f}));
}

TEST_P(PixelOpsTest, ExponentialsAreThoseOfTheLowestRow) {
  const PixelOps& lowest = *PixelOpsRows().front().ops;
  for (const size_t count : {1, 16, 33, 1000}) {
    for (const bool are_any : {false, true}) {
      Floats in = AnyFloats(random_, count);
      if (!are_any) std::generate(in.begin(), in.end(), [&] { return random_.Float(-30, 30); });
      Floats expected(count), out(count);
      lowest.softmax(in.data(), 1, count, 0.7f, expected.data());
      ops().softmax(in.data(), 1, count, 0.7f, out.data());
      for (size_t i = 0; i < count; ++i) ASSERT_TRUE(SameFloat(out[i], expected[i])) << in[i];
      lowest.logistic(in.data(), count, expected.data());
      ops().logistic(in.data(), count, out.data());
      for (size_t i = 0; i < count; ++i) ASSERT_TRUE(SameFloat(out[i], expected[i])) << in[i];
    }
  }
}

// Each lane adds up a 16th of the values, and four more additions join the lanes. An addition's
// error is half a part of 2^-23 of what it makes, and no partial sum exceeds the sum of all
// magnitudes.
TEST_P(PixelOpsTest, Sum) {
  const PixelOps& lowest = *PixelOpsRows().front().ops;
  for (const size_t channels : {1, 2, 15, 16, 17, 100, 1000}) {
    const size_t rows = 3;
    Floats values(rows * channels);
    for (float& value : values) value = random_.Float(-3, 3);
    const GuardedBuffer<float> in{std::span(std::as_const(values))};
    GuardedBuffer<float> out(rows);
    ops().sum(in.data(), rows, channels, out.data());
    Floats of_lowest(rows);
    lowest.sum(in.data(), rows, channels, of_lowest.data());
    for (size_t row = 0; row < rows; ++row) {
      double sum = 0, magnitudes = 0;
      for (size_t c = 0; c < channels; ++c) {
        sum += values[row * channels + c];
        magnitudes += std::abs(values[row * channels + c]);
      }
      const double additions = static_cast<double>(channels / 16 + 5);
      ASSERT_NEAR(out.data()[row], sum, additions * 0x1p-24 * magnitudes) << channels;
      ASSERT_TRUE(SameFloat(out.data()[row], of_lowest[row])) << channels;
    }
  }
}

// Returns what a function of two floats makes, one operation after the other; nothing if the row
// need not have it.
std::optional<float> PairOf(PairFunction function, float a, float b) {
  switch (function) {
    case PairFunction::kAdd:
      return a + b;
    case PairFunction::kDiv:
      return a / b;
    case PairFunction::kMaximum:
      return a > b ? a : b;
    case PairFunction::kMinimum:
      return a < b ? a : b;
    case PairFunction::kMul:
      return a * b;
    case PairFunction::kPrelu:
      return a >= 0 ? a : a * b;
    case PairFunction::kSquaredDifference: {
      const float difference = a - b;
      return difference * difference;
    }
    case PairFunction::kSub:
      return a - b;
    default:
      return std::nullopt;
  }
}

TEST_P(PixelOpsTest, FunctionsOfTwoFloats) {
  for (int number = 0; number <= static_cast<int>(PairFunction::kSub); ++number) {
    const auto function = static_cast<PairFunction>(number);
    const PairLoop loop = ops().pair_loop(function);
    ASSERT_EQ(loop != nullptr, PairOf(function, 1, 1).has_value()) << number;
    if (loop == nullptr) continue;
    for (const size_t count : {0, 1, 7, 16, 33, 100}) {
      const Floats a = AnyFloats(random_, count + 1), b = AnyFloats(random_, count + 1);
      for (const bool a_is_one : {false, true}) {
        for (const bool b_is_one : {false, true}) {
          if (a_is_one && b_is_one && count != 1) continue;
          const auto some = [&](const Floats& all, bool is_one) {
            return GuardedBuffer<float>{std::span(all).first(is_one ? 1 : count)};
          };
          const GuardedBuffer<float> x = some(a, a_is_one), y = some(b, b_is_one);
          GuardedBuffer<float> out(count);
          loop({.values = x.data(), .is_one = a_is_one}, {.values = y.data(), .is_one = b_is_one},
               count, out.data());
          for (size_t i = 0; i < count; ++i) {
            const float expected = *PairOf(function, a[a_is_one ? 0 : i], b[b_is_one ? 0 : i]);
            ASSERT_TRUE(SameFloat(out.data()[i], expected))
                << number << ": " << a[i] << " " << b[i];
          }
        }
      }
    }
  }
}

// Like PairOf, for functions that are exact; the slope of a leaky ReLU is a quarter.
std::optional<float> ValueOf(ValueFunction function, float x) {
  const auto clamped = [](float value, float least, float most) {
    // clang 14 makes f32.max of a comparison with a known 0, which turns -0 into 0.
    const volatile float lowest = least;
    value = value < lowest ? lowest : value;
    return value > most ? most : value;
  };
  switch (function) {
    case ValueFunction::kAbs:
      return std::abs(x);
    case ValueFunction::kCeil:
      return std::ceil(x);
    case ValueFunction::kFloor:
      return std::floor(x);
    case ValueFunction::kHardSwish:
      return x * (clamped(x + 3, 0, 6) / 6);
    case ValueFunction::kLeakyRelu:
      return x > 0 ? x : x * 0.25f;
    case ValueFunction::kNeg:
      return -x;
    case ValueFunction::kRelu:
      return clamped(x, 0, kInfinity);
    case ValueFunction::kRelu0To1:
      return clamped(x, 0, 1);
    case ValueFunction::kRelu6:
      return clamped(x, 0, 6);
    case ValueFunction::kReluN1To1:
      return clamped(x, -1, 1);
    case ValueFunction::kRound:
      return std::nearbyint(x);
    case ValueFunction::kRsqrt:
      return 1 / std::sqrt(x);
    case ValueFunction::kSqrt:
      return std::sqrt(x);
    case ValueFunction::kSquare:
      return x * x;
    default:
      return std::nullopt;
  }
}

// The others, in double precision.
std::optional<double> TrueValueOf(ValueFunction function, double x) {
  switch (function) {
    case ValueFunction::kElu:
      return x < 0 ? std::expm1(x) : x;
    case ValueFunction::kExp:
      return std::exp(x);
    case ValueFunction::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case ValueFunction::kGeluByTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case ValueFunction::kLog:
      return std::log(x);
    case ValueFunction::kLogistic:
      return 1 / (1 + std::exp(-x));
    case ValueFunction::kTanh:
      return std::tanh(x);
    default:
      return std::nullopt;
  }
}

bool IsOfLayers(ValueFunction function) {
  return function == ValueFunction::kCos || function == ValueFunction::kLogicalNot ||
         function == ValueFunction::kSign || function == ValueFunction::kSin;
}

// Calls check(function, loop) for each function of the row.
template <typename Check>
void ForFunctions(const PixelOps& ops, const Check& check) {
  for (int number = 0; number <= static_cast<int>(ValueFunction::kTanh); ++number) {
    const auto function = static_cast<ValueFunction>(number);
    SCOPED_TRACE("function " + std::to_string(number));
    const ValueLoop loop = ops.value_loop(function);
    ASSERT_EQ(loop == nullptr, IsOfLayers(function));
    if (loop != nullptr) check(function, loop);
  }
}

// Special values: results come from limits there.
Floats SpecialFloats() {
  Floats values = {kNan, kInfinity, -kInfinity, 0.0f, -0.0f, kDenormal, -kDenormal, 1, -1};
  for (const float limit :
       {10.0f, 87.0f, 88.72f, 89.0f, 103.9f, 104.0f, 1e20f, 3e38f, 0.5f, 2.5f}) {
    for (const float x : {limit, std::nextafter(limit, 0.0f), std::nextafter(limit, kInfinity)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  return values;
}

// Rows make the same bits in place, and whatever their vectors are.
TEST_P(PixelOpsTest, FunctionsOfOneFloat) {
  ForFunctions(ops(), [&](ValueFunction function, ValueLoop loop) {
    const ValueLoop lowest = PixelOpsRows().front().ops->value_loop(function);
    for (const size_t count : {0, 1, 7, 16, 33, 100}) {
      Floats values = AnyFloats(random_, count);
      if (count == 100) values = SpecialFloats();
      if (count == 33)
        std::generate(values.begin(), values.end(), [&] { return random_.Float(-5, 5); });
      const GuardedBuffer<float> in{std::span(std::as_const(values))};
      GuardedBuffer<float> out(values.size()), in_place{std::span(std::as_const(values))};
      Floats expected(values.size());
      loop(in.data(), values.size(), 0.25f, out.data());
      loop(in_place.data(), values.size(), 0.25f, in_place.data());
      lowest(in.data(), values.size(), 0.25f, expected.data());
      for (size_t i = 0; i < values.size(); ++i) {
        const float exact = ValueOf(function, values[i]).value_or(expected[i]);
        ASSERT_TRUE(SameFloat(out.data()[i], exact)) << values[i];
        ASSERT_TRUE(SameFloat(expected[i], exact)) << values[i];
        ASSERT_TRUE(SameFloat(in_place.data()[i], out.data()[i])) << values[i];
      }
    }
  });
}

// A quarter of all floats were tried once: none erred by more than 1.8 steps of 2^-23 of the
// result, or, for the two forms of GELU, which are products with x, by 1.3 steps of 1.
TEST_P(PixelOpsTest, FunctionsAreNearTheTrueOnes) {
  ForFunctions(ops(), [&](ValueFunction function, ValueLoop loop) {
    if (!TrueValueOf(function, 1)) return;
    const bool is_gelu = function == ValueFunction::kGelu || function == ValueFunction::kGeluByTanh;
    Floats values = SpecialFloats();
    for (const float reach : {1e-3f, 1.0f, 10.0f, 100.0f}) {
      for (int i = 0; i < 1000; ++i) values.push_back(random_.Float(-reach, reach));
    }
    Floats out(values.size());
    loop(values.data(), values.size(), 0, out.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = *TrueValueOf(function, values[i]);
      const auto nearest = static_cast<float>(expected);
      if (!std::isfinite(nearest) || !std::isfinite(out[i])) {
        ASSERT_TRUE(SameFloat(out[i], nearest)) << values[i];
        continue;
      }
      const double size = is_gelu ? 1 + std::abs(expected) : std::abs(expected);
      ASSERT_NEAR(out[i], expected, 0x1p-125 + 2 * 0x1p-23 * size) << values[i];
    }
  });
}

std::vector<int8_t> AnyBytes(Random& random, size_t count, int8_t least = -128) {
  std::vector<int8_t> bytes(count);
  for (int8_t& byte : bytes) byte = static_cast<int8_t>(random.Int(least, 127));
  return bytes;
}

// The sum of two products of -128 and -127 nearly overflows 16 bits, and one of -128 and -128 does.
TEST_P(PixelOpsTest, AddInt8Products) {
  for (const size_t taps : {1, 2, 3, 8, 9, 10, 25}) {
    for (const size_t count : {0, 1, 7, 8, 16, 24, 33, 100, 200}) {
      for (const bool pairs_fit : {false, true}) {
        std::vector<std::vector<int8_t>> x, w;
        std::vector<const int8_t*> values, weights;
        std::vector<int32_t> expected(count, INT32_MAX - 1000);  // sums wrap
        for (size_t t = 0; t < taps; ++t) {
          x.push_back(AnyBytes(random_, count));
          w.push_back(AnyBytes(random_, count, pairs_fit ? -127 : -128));
          if (count > 1) x[t][1] = -128;
          if (count > 1) w[t][1] = pairs_fit ? -127 : -128;
          for (size_t i = 0; i < count; ++i) {
            const auto product = static_cast<uint32_t>(x[t][i] * w[t][i]);
            expected[i] = static_cast<int32_t>(static_cast<uint32_t>(expected[i]) + product);
          }
        }
        const std::vector<int32_t> start(count, INT32_MAX - 1000);
        GuardedBuffer<int32_t> sums{std::span(start)};
        std::vector<std::unique_ptr<GuardedBuffer<int8_t>>> guarded;
        const auto guard = [&](const std::vector<int8_t>& bytes) {
          guarded.push_back(std::make_unique<GuardedBuffer<int8_t>>(std::span(bytes)));
          return guarded.back()->data();
        };
        for (size_t t = 0; t < taps; ++t) {
          values.push_back(guard(x[t]));
          weights.push_back(guard(w[t]));
        }
        ops().add_int8_products(values.data(), weights.data(), taps, pairs_fit, count, sums.data());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sums.data()))
            << taps << " taps, " << count << " values, " << pairs_fit;
      }
    }
  }
}

TEST_P(PixelOpsTest, SumInt8Windows) {
  if (ops().sum_int8_windows == nullptr) GTEST_SKIP() << "this row adds up taps one by one";
  for (const size_t step : {1, 2, 3}) {
    for (const size_t pixels : {1, 2, 3, 7, 8, 13}) {
      for (const size_t channels : {1, 7, 8, 9, 16, 33, 64}) {
        const size_t columns = (pixels - 1) * step + 3;
        std::vector<std::unique_ptr<GuardedBuffer<int8_t>>> guarded;
        std::vector<const int8_t*> lines;
        for (int y = 0; y < 3; ++y) {
          std::vector<int8_t> line = AnyBytes(random_, columns * channels);
          line[0] = -128;
          guarded.push_back(std::make_unique<GuardedBuffer<int8_t>>(std::span(line)));
          lines.push_back(guarded.back()->data());
        }
        std::vector<int8_t> weights = AnyBytes(random_, 9 * channels);
        for (size_t tap = 0; tap < 9; ++tap) weights[tap * channels] = -128;
        const GuardedBuffer<int8_t> guarded_weights{std::span(weights)};
        const std::vector<int32_t> start(channels, INT32_MAX - 1000);  // sums wrap
        const GuardedBuffer<int32_t> bias{std::span(start)};
        GuardedBuffer<int32_t> sums(pixels * channels);
        ops().sum_int8_windows(lines.data(), guarded_weights.data(), bias.data(), pixels, step,
                               channels, sums.data());
        for (size_t i = 0; i < sums.size(); ++i) {
          const size_t pixel = i / channels, c = i % channels;
          uint32_t expected = INT32_MAX - 1000;
          for (size_t tap = 0; tap < 9; ++tap) {
            const size_t column = pixel * step + tap % 3;
            const int value = lines[tap / 3][column * channels + c];
            expected += static_cast<uint32_t>(value * weights[tap * channels + c]);
          }
          ASSERT_EQ(sums.data()[i], static_cast<int32_t>(expected))
              << "step " << step << ", pixel " << pixel << ", channel " << c << " of " << channels;
        }
      }
    }
  }
}

TEST_P(PixelOpsTest, MaxInt8) {
  for (const size_t taps : {1, 2, 9}) {
    for (const size_t count : {0, 1, 7, 33, 100, 200}) {
      for (const bool begins_with_out : {false, true}) {
        std::vector<std::unique_ptr<GuardedBuffer<int8_t>>> guarded;
        std::vector<const int8_t*> pointers;
        std::vector<int8_t> expected(count, -128);
        for (size_t t = 0; t < taps; ++t) {
          const std::vector<int8_t> tap = AnyBytes(random_, count);
          for (size_t i = 0; i < count; ++i) expected[i] = std::max(expected[i], tap[i]);
          guarded.push_back(std::make_unique<GuardedBuffer<int8_t>>(std::span(tap)));
          pointers.push_back(guarded.back()->data());
        }
        GuardedBuffer<int8_t> apart(count);
        int8_t* const out = begins_with_out ? guarded[0]->data() : apart.data();
        ops().max_int8(pointers.data(), taps, count, out);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << count;
      }
    }
  }
}

TEST_P(PixelOpsTest, SumsAndProductsOfInt8Pairs) {
  const Int8Pairs pairs{.zero_points = {-7, 30},
                        .of_step = {1234, -777},
                        .shift = 10,
                        .multiplier = 0.013f,
                        .range = {.min = -90, .max = 77},
                        .zero_point = 5};
  for (const size_t count : {0, 1, 7, 33, 100, 200}) {
    const std::vector<int8_t> a = AnyBytes(random_, count + 1), b = AnyBytes(random_, count + 1);
    for (const bool a_is_one : {false, true}) {
      for (const bool b_is_one : {false, true}) {
        const auto some = [&](const std::vector<int8_t>& all, bool is_one) {
          return GuardedBuffer<int8_t>{std::span(all).first(is_one ? 1 : count)};
        };
        const GuardedBuffer<int8_t> x = some(a, a_is_one), y = some(b, b_is_one);
        const LineOperand left{.values = x.data(), .is_one = a_is_one};
        const LineOperand right{.values = y.data(), .is_one = b_is_one};
        GuardedBuffer<int8_t> sums(count), products(count);
        ops().add_int8(pairs, left, right, count, sums.data());
        ops().multiply_int8(pairs, left, right, count, products.data());
        for (size_t i = 0; i < count; ++i) {
          const int of_a = a[a_is_one ? 0 : i] + 7, of_b = b[b_is_one ? 0 : i] - 30;
          const int sum = static_cast<int>(std::floor((of_a * 1234 - of_b * 777 + 512) / 1024.0));
          ASSERT_EQ(sums.data()[i], std::clamp(sum, -90, 77) + 5) << i;
          const float product = static_cast<float>(of_a * of_b) * 0.013f;
          const float rounded = std::nearbyint(std::clamp(product, -90.0f, 77.0f));
          ASSERT_EQ(products.data()[i], static_cast<int>(rounded) + 5) << i;
        }
      }
    }
  }
}

TEST_P(PixelOpsTest, RowsOfNothing) {
  const PixelOps& p = ops();
  const std::vector<float> channel(32);
  const std::vector<uint32_t> signs(32);
  for (size_t rows : {0, 3}) {
    const size_t channels = rows == 0 ? 32 : 0;
    p.bitpack_float(nullptr, rows, channels, nullptr);
    p.bitpack_float_limits(nullptr, channel.data(), signs.data(), rows, channels, nullptr, 1);
    p.bitpack_int8(nullptr, rows, channels, 0, nullptr);
    p.bitpack_bool(nullptr, rows, channels, nullptr);
    p.unpack_float(nullptr, rows, channels, nullptr);
    p.unpack_int8(nullptr, rows, channels, 1, -1, nullptr);
    p.unpack_bool(nullptr, rows, channels, nullptr);
    p.add_channels(nullptr, nullptr, rows, channels, kNoRange, nullptr);
    p.multiply_channels(nullptr, nullptr, rows, channels, kNoRange, nullptr);
    p.prelu(nullptr, nullptr, rows, channels, nullptr);
    p.softmax(nullptr, rows, channels, 1, nullptr);
  }
  p.sum(nullptr, 0, 32, nullptr);
  const uint32_t* const no_bits = nullptr;
  const float* const no_floats = nullptr;
  p.max_bits(&no_bits, 1, 0, nullptr);
  p.max_float(&no_floats, 1, 0, nullptr);
  p.max_products(&no_floats, 1, nullptr, 0, nullptr);
  p.average(&no_floats, 1, 0, 1, nullptr);
  p.dense(nullptr, nullptr, 0, 0, nullptr);
  p.add(nullptr, nullptr, 0, kNoRange, nullptr);
  p.multiply(nullptr, nullptr, 0, kNoRange, nullptr);
  p.clamp(nullptr, 0, kNoRange, nullptr);
  p.scale_uint8(nullptr, 0, 0, 1, nullptr);
  p.scale_int8(nullptr, 0, 0, 1, nullptr);
  p.logistic(nullptr, 0, nullptr);
  const std::vector<int32_t> limit(32), sums(32);
  const TransformArgs none{.rows = 0,
                           .channels = 32,
                           .acc = sums.data(),
                           .acc_stride = 32,
                           .depth = nullptr,
                           .multiplier = channel.data(),
                           .bias = channel.data(),
                           .dot_min = INT32_MIN,
                           .dot_max = INT32_MAX,
                           .zero_point = 0,
                           .dot_limit = limit.data(),
                           .out = nullptr,
                           .out_stride = 0};
  p.to_float(none);
  TransformArgs no_sums = none;
  no_sums.sum.addend = channel.data();
  p.to_float(no_sums);
  no_sums.sum.gate = no_sums.sum.slopes = channel.data();
  p.to_float(no_sums);
  p.to_int8(none);
  p.to_bits(none);
}

INSTANTIATE_TEST_SUITE_P(Rows, PixelOpsTest,
                         ::testing::ValuesIn(PixelOpsRows().begin(), PixelOpsRows().end()),
                         [](const auto& info) { return std::string(IsaName(info.param.isa)); });

TEST(PixelOpsTable, RowsAreInTheOrderOfIsas) {
  const std::span<const PixelOpsRow> rows = PixelOpsRows();
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& a, const auto& b) { return a.isa < b.isa; }));
}

TEST(PixelOpsTable, SelectsTheHighestThatCpuAndForcedKernelAllow) {
  const PixelOps* lowest = PixelOpsRows().front().ops;
  EXPECT_EQ(&SelectPixelOps({}), lowest);
  CpuFeatures cpu = {};
  for (const PixelOpsRow& row : PixelOpsRows()) {
    cpu.Add(row.isa);
    EXPECT_EQ(&SelectPixelOps(cpu), row.ops) << IsaName(row.isa);
    EXPECT_EQ(&SelectPixelOps(AllowedFeatures(cpu, "reference")), lowest);
    EXPECT_EQ(&SelectPixelOps(AllowedFeatures(cpu, "bgemm_i32_4x2x64_portable")), lowest);
  }
}

TEST(PixelOpsTable, NoKernelOfAnUnknownName) {
  EXPECT_THROW(SelectPixelOps(AllowedFeatures({}, "fastest")), std::invalid_argument);
}

}  // namespace
}  // namespace larq_engine
