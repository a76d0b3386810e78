#include "larq_engine/kernels/quantize_planes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/kernels/bits.h"
#include "larq_engine/kernels/pixel_ops_table.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The odd number that the planes of a value add up to; the unused bits of each plane must be 0.
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

TEST(PlaneQuantizer, CountsTheLimitsThatAValueIsNotSmallerThan) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (const PixelOpsRow& row : PixelOpsRows()) {
    if (!DetectCpuFeatures().Has(row.isa))
      continue;  // listed by PixelOpsTable.RequiredIsasAreThere
    for (size_t bits = 2; bits <= 4; ++bits) {
      for (size_t channels : {1, 3, 31, 32, 33, 64, 96, 100, 130, 5000}) {
        const size_t count = (size_t{1} << bits) - 1;
        std::vector<float> limits(count * channels);
        for (size_t c = 0; c < channels; ++c) {
          std::vector<float> column(count);
          for (float& limit : column) {
            limit = random.Int(0, 5) == 0 ? 0.0f : random.Float(-1.0f, 1.0f);
          }
          std::sort(column.begin(), column.end());
          for (size_t i = 0; i < count; ++i) limits[i * channels + c] = column[i];
        }
        const size_t pixels = channels > 200 ? 3 : 1000 / channels + 1;
        std::vector<float> values(pixels * channels);
        for (size_t i = 0; i < values.size(); ++i) {
          const float limit =
              limits[static_cast<size_t>(random.Int(0, static_cast<int64_t>(count) - 1)) *
                         channels +
                     i % channels];
          const float near[] = {limit, std::nextafter(limit, -INFINITY),
                                std::nextafter(limit, INFINITY), random.Float(-1.5f, 1.5f)};
          values[i] = near[random.Int(0, 3)];
        }
        const std::vector<uint32_t> out = Quantize(*row.ops, bits, channels, limits, values);
        for (size_t i = 0; i < values.size(); ++i) {
          int q = 0;
          for (size_t l = 0; l < count; ++l) q += values[i] >= limits[l * channels + i % channels];
          const uint32_t* pixel = out.data() + i / channels * bits * WordsFor(channels);
          ASSERT_EQ(ValueOf(pixel, bits, channels, i % channels), 2 * q - static_cast<int>(count))
              << IsaName(row.isa) << ": " << bits << " bits, " << values[i] << ", channel "
              << i % channels << " of " << channels;
        }
      }
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

}  // namespace
}  // namespace larq_engine
