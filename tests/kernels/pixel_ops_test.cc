#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "larq_engine/kernels/bitpack.h"
#include "larq_engine/kernels/bits.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::GuardedBuffer;
using testing::Random;

constexpr size_t kRowCounts[] = {1, 2, 3, 8, 10, 15, 64};
constexpr size_t kChannelCounts[] = {1, 3, 16, 31, 32, 33, 63, 64, 68, 128, 130};

// Bit c of row r must be `is_negative` of its value, and bits past the channels 0.
template <typename T, typename IsNegative>
void ExpectPacked(const T* in, size_t rows, size_t channels, const uint32_t* out,
                  IsNegative is_negative) {
  const size_t words = WordsFor(channels);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < words * 32; ++c) {
      const bool bit = (out[r * words + c / 32] >> (c % 32)) & 1;
      const bool expected = c < channels && is_negative(in[r * channels + c]);
      ASSERT_EQ(bit, expected) << "row " << r << " of " << rows << ", channel " << c << " of "
                               << channels;
    }
  }
}

TEST(Bitpack, Float) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (size_t rows : kRowCounts) {
    for (size_t channels : kChannelCounts) {
      GuardedBuffer<float> in(rows * channels);
      for (size_t i = 0; i < in.size(); ++i) in.data()[i] = random.Float(-1.5f, 1.5f);
      GuardedBuffer<uint32_t> out(rows * WordsFor(channels));
      BitpackFloat(in.data(), rows, channels, out.data());
      ExpectPacked(in.data(), rows, channels, out.data(), [](float x) { return x < 0; });
    }
  }
}

TEST(Bitpack, FloatSpecialValues) {
  using Limits = std::numeric_limits<float>;
  // Values and their bits: only what is smaller than zero is -1.
  const std::pair<float, uint32_t> cases[] = {{0.0f, 0},
                                              {-0.0f, 0},
                                              {Limits::quiet_NaN(), 0},
                                              {std::copysign(Limits::quiet_NaN(), -1.0f), 0},
                                              {Limits::infinity(), 0},
                                              {-Limits::infinity(), 1},
                                              {Limits::denorm_min(), 0},
                                              {-Limits::denorm_min(), 1}};
  for (size_t channels : {size_t{1}, size_t{32}, size_t{33}}) {
    for (const auto& [value, bit] : cases) {
      const std::vector<float> in(channels, value);
      std::vector<uint32_t> out(WordsFor(channels));
      BitpackFloat(in.data(), 1, channels, out.data());
      for (size_t c = 0; c < channels; ++c) EXPECT_EQ((out[c / 32] >> (c % 32)) & 1, bit) << value;
    }
  }
}

TEST(Bitpack, Int8) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (int32_t zero_point : {-1000, -128, -42, -1, 0, 23, 127, 128}) {
    for (size_t channels : kChannelCounts) {
      GuardedBuffer<int8_t> in(5 * channels);
      for (size_t i = 0; i < in.size(); ++i) {
        in.data()[i] = static_cast<int8_t>(random.Int(-128, 127));
      }
      in.data()[0] = static_cast<int8_t>(zero_point);
      GuardedBuffer<uint32_t> out(5 * WordsFor(channels));
      BitpackInt8(in.data(), 5, channels, zero_point, out.data());
      ExpectPacked(in.data(), 5, channels, out.data(),
                   [zero_point](int8_t x) { return x < zero_point; });
    }
  }
}

TEST(Bitpack, Bool) {
  Random random;
  for (size_t channels : kChannelCounts) {
    GuardedBuffer<bool> in(3 * channels);
    for (size_t i = 0; i < in.size(); ++i) in.data()[i] = random.Int(0, 1) == 1;
    GuardedBuffer<uint32_t> out(3 * WordsFor(channels));
    BitpackBool(in.data(), 3, channels, out.data());
    ExpectPacked(in.data(), 3, channels, out.data(), [](bool x) { return !x; });
  }
}

TEST(Bitpack, BoolOfAnyByteButZeroIsTrue) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  uint32_t out = 0;
  BitpackBool(reinterpret_cast<const bool*>(bytes), 1, 4, &out);
  EXPECT_EQ(out, 1u);
}

#if defined(__x86_64__)
TEST(Bitpack, DenormalsDoNotDependOnTheThreadsFlags) {
  constexpr unsigned kFlushAndDenormalsAreZero = 0x8040;
  const std::vector<float> in(33, -1e-40f);
  std::vector<uint32_t> out(2);
  const unsigned flags = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(flags | kFlushAndDenormalsAreZero);
  BitpackFloat(in.data(), 1, 33, out.data());
  __builtin_ia32_ldmxcsr(flags);
  EXPECT_EQ(out, (std::vector<uint32_t>{~0u, 1u}));
}
#endif

TEST(Bitpack, RowsOfNothing) {
  BitpackFloat(nullptr, 0, 32, nullptr);
  uint32_t untouched = 7;
  BitpackFloat(nullptr, 3, 0, &untouched);
  EXPECT_EQ(untouched, 7u);
}

TEST(Unpack, GivesBackWhatWasPacked) {
  SCOPED_TRACE(testing::ReplayHint());
  Random random;
  for (size_t channels : kChannelCounts) {
    const size_t rows = 3;
    std::vector<float> in(rows * channels);
    for (float& value : in) value = random.Int(0, 1) ? 1.0f : -1.0f;
    GuardedBuffer<uint32_t> packed(rows * WordsFor(channels));
    BitpackFloat(in.data(), rows, channels, packed.data());
    GuardedBuffer<float> floats(in.size());
    UnpackFloat(packed.data(), rows, channels, floats.data());
    GuardedBuffer<int8_t> ints(in.size());
    UnpackInt8(packed.data(), rows, channels, 9, -3, ints.data());
    GuardedBuffer<bool> bools(in.size());
    UnpackBool(packed.data(), rows, channels, bools.data());
    for (size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(floats.data()[i], in[i]);
      ASSERT_EQ(ints.data()[i], in[i] > 0 ? 9 : -3);
      ASSERT_EQ(bools.data()[i], in[i] > 0);
    }
  }
}

}  // namespace
}  // namespace larq_engine
