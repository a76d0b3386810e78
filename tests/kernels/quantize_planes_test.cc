#include "larq_engine/kernels/pixels/quantize_planes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/pixels/table.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Returns the odd number that the planes of a value add up to; the unused bits of each plane must
// be 0.
int ValueOf(const uint32_t* pixel, size_t bits, size_t channels, size_t c) {
  int value = 0;
  for (size_t plane = 0; plane < bits; ++plane, pixel += WordsFor(channels)) {
    EXPECT_EQ(pixel[WordsFor(channels) - 1] & ~TailMask(channels), 0u);
    value += pixel[c / kWordBits] & kBit[c % kWordBits] ? -(1 << plane) : 1 << plane;
  }
  return value;
}

std::vector<uint32_t> Quantize(const PixelOps& ops, size_t bits, size_t channels,
                               const std::vector<float>& limits, const std::vector<float>& values) {
  const size_t pixels = values.size() / channels;
  const PlaneQuantizer quantizer(bits, channels, limits, ops);
  AlignedBuffer<std::byte> scratch(quantizer.scratch_bytes());
  const GuardedBuffer<float> in{std::span<const float>(values)};
  GuardedBuffer<uint32_t> out(pixels * bits * WordsFor(channels));
  std::fill_n(out.data(), out.size(), 0x5ca1ab1eu);
  quantizer.Run(in.data(), pixels, scratch.data(), out.data());
  return {out.data(), out.data() + out.size()};
}

// Returns the limits of one channel, in rising order: at random places, or at equal distances
// except for rounding.
std::vector<float> RandomLimits(Random& random, size_t count, bool even) {
  std::vector<float> limits(count);
  const float step = random.Float(0.01f, 1.0f);
  const float start = random.Float(-20.0f, 20.0f);
  for (size_t i = 0; i < count; ++i) {
    const float jitter = random.Float(-0.1f, 0.1f);
    limits[i] = even                    ? start + step * (static_cast<float>(i) + jitter)
                : random.Int(0, 5) == 0 ? 0.0f
                                        : random.Float(-1.0f, 1.0f);
  }
  std::sort(limits.begin(), limits.end());
  // Some levels are reached by no value.
  const auto last = static_cast<int64_t>(count) - 1;
  const int64_t below = random.Int(0, 3) == 0 ? random.Int(1, std::min<int64_t>(last + 1, 30)) : 0;
  std::fill_n(limits.begin(), below, -INFINITY);
  if (random.Int(0, 3) == 0) limits.back() = INFINITY;
  return limits;
}

// `alike` gives all channels the same limits.
void ExpectCounts(Random& random, const PixelOps& ops, size_t bits, size_t channels, bool even,
                  bool alike) {
  const size_t count = (size_t{1} << bits) - 1;
  const size_t limit_channels = alike ? 1 : channels;
  std::vector<float> limits(count * limit_channels);
  for (size_t c = 0; c < limit_channels; ++c) {
    const std::vector<float> column = RandomLimits(random, count, even);
    for (size_t i = 0; i < count; ++i) limits[i * limit_channels + c] = column[i];
  }
  const auto limit = [&](size_t i, size_t c) {
    return limits[i * limit_channels + (alike ? 0 : c)];
  };
  const size_t pixels = channels > 200 ? 3 : 1000 / channels + 1;
  std::vector<float> values(pixels * channels);
  for (size_t i = 0; i < values.size(); ++i) {
    const float at =
        limit(static_cast<size_t>(random.Int(0, static_cast<int64_t>(count) - 1)), i % channels);
    const float beside[] = {at,       std::nextafter(at, -INFINITY), std::nextafter(at, INFINITY),
                            INFINITY, random.Float(-1.5f, 1.5f),     random.Float(-30.0f, 30.0f),
                            -INFINITY};
    values[i] = beside[random.Int(0, 6)];
  }
  const std::vector<uint32_t> out = Quantize(ops, bits, channels, limits, values);
  for (size_t i = 0; i < values.size(); ++i) {
    int q = 0;
    for (size_t l = 0; l < count; ++l) q += values[i] >= limit(l, i % channels);
    const uint32_t* pixel = out.data() + i / channels * bits * WordsFor(channels);
    ASSERT_EQ(ValueOf(pixel, bits, channels, i % channels), 2 * q - static_cast<int>(count))
        << bits << " bits, " << values[i] << ", channel " << i % channels << " of " << channels
        << ", " << (even ? "even" : "any") << " limits" << (alike ? ", all alike" : "");
  }
}

TEST(PlaneQuantizer, CountsTheLimitsThatAValueIsNotSmallerThan) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;  // listed by KernelRows.OfRequiredIsasAreThere
    SCOPED_TRACE(IsaName(row.isa));
    for (size_t bits = 2; bits <= kMaxBits; ++bits) {
      for (size_t channels : {1, 3, 31, 32, 33, 64, 96, 100, 130, 5000}) {
        for (bool even : {false, true}) {
          for (bool alike : {false, true}) {
            ASSERT_NO_FATAL_FAILURE(ExpectCounts(random, *row.ops, bits, channels, even, alike));
          }
        }
      }
    }
  }
}

TEST(PlaneQuantizer, NanIsSmallerThanNoLimit) {
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    for (size_t bits = 2; bits <= kMaxBits; ++bits) {
      std::vector<float> limits((size_t{1} << bits) - 1);
      for (size_t i = 0; i < limits.size(); ++i) limits[i] = static_cast<float>(i);
      const std::vector<uint32_t> out = Quantize(*row.ops, bits, 1, limits, {kNan});
      EXPECT_EQ(ValueOf(out.data(), bits, 1, 0), static_cast<int>(limits.size()));
    }
  }
}

TEST(PlaneQuantizer, SpecialValues) {
  const std::vector<float> limits = {0.0f, 0.0f, INFINITY};
  const std::vector<float> values = {-INFINITY, -0x1p-126f, -0.0f, 0.0f,
                                     1.0f,      INFINITY,   kNan,  -kNan};
  const int expected[] = {-3, -3, 1, 1, 1, 3, 3, 3};
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    const std::vector<uint32_t> out = Quantize(*row.ops, 2, 1, limits, values);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(ValueOf(out.data() + 2 * i, 2, 1, 0), expected[i])
          << IsaName(row.isa) << ": " << values[i];
    }
  }
}

TEST(ByteQuantizer, PlanesAreTheBitsOfBytes) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!DetectCpuFeatures().Has(row.isa)) continue;
    for (size_t channels : {1, 3, 31, 32, 33, 64, 100, 784, 20000}) {
      const ByteQuantizer quantizer(channels, *row.ops);
      const size_t pixels = channels > 10000 ? 3 : 20000 / channels;
      GuardedBuffer<uint8_t> in(pixels * channels);
      for (size_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<uint8_t>(random.Word());
      AlignedBuffer<std::byte> scratch(quantizer.scratch_bytes());
      GuardedBuffer<uint32_t> out(pixels * 8 * WordsFor(channels));
      std::fill_n(out.data(), out.size(), 0x5ca1ab1eu);
      quantizer.Run(in.data(), pixels, scratch.data(), out.data());
      for (size_t i = 0; i < in.size(); ++i) {
        const uint32_t* pixel = out.data() + i / channels * 8 * WordsFor(channels);
        ASSERT_EQ(ValueOf(pixel, 8, channels, i % channels), 2 * in.data()[i] - 255)
            << IsaName(row.isa) << ": channel " << i % channels << " of " << channels;
      }
    }
  }
}

}  // namespace
}  // namespace larq_engine
