// Held sums become the same bits that they would have become at once.
#include "larq_engine/kernels/cuda/bconv2d_held.h"

#include <array>
#include <random>

#include "gtest/gtest.h"
#include "larq_engine/kernels/cuda/wgmma_rules.h"
#include "tests/common/seed.h"

namespace larq_engine::cuda {
namespace {

constexpr int kRows = 16;
constexpr int kColumns = 32;
using Sums = HeldSums<kColumns>;

Bconv2dArgs Args(int32_t depth) {
  Bconv2dArgs a{};
  a.batch = a.out_height = 1;
  a.out_width = kRows;
  a.out_channels = a.group_out_channels = kColumns;
  a.filter_height = a.filter_width = 1;
  a.tap_dot = depth;
  a.output.kind = Bconv2dOutput::kBits;
  a.output.epilogue = Bconv2dOutput::kThreshold;
  return a;
}

TEST(HeldSums, BitsAreThoseOfTheGreatestSums) {
  SCOPED_TRACE(testing::ReplayHint());
  std::mt19937_64 random(testing::TestSeed());
  const auto any = [&] {
    constexpr int32_t kSpecial[] = {0, 1, 0x7fff, 0x8000, Sums::kMost - 1, Sums::kMost};
    const uint64_t choice = random() % 8;
    return choice < 6 ? kSpecial[choice] : static_cast<int32_t>(random() % (Sums::kMost + 1));
  };
  for (int round = 0; round < 20; ++round) {
    std::array<std::array<int32_t, kColumns>, kRows> sums;
    std::array<int32_t, kRows> ones;
    EpilogueConstants<kColumns> constants = {};
    for (int m = 0; m < kRows; ++m) {
      ones[m] = any();
      for (int32_t& sum : sums[m]) sum = any();
    }
    // The limits are near the values that are compared with them, those of a random row.
    for (int n = 0; n < kColumns; ++n) {
      const size_t m = random() % kRows;
      constants.integers[n] = ones[m] - 2 * sums[m][n] + static_cast<int32_t>(random() % 3) - 1;
    }

    std::array<uint32_t, kRows> bits = {};
    Bconv2dArgs a = Args(Sums::kMost);
    a.output.bits = bits.data();
    const auto kernel = [&] {
      int32_t c[kColumns / 2];
      for (uint32_t i = 0; i < kColumns / 2; ++i) {
        const WgmmaElement at = WgmmaElementRule(threadIdx.x, i);
        c[i] = sums[at.row][at.column];
      }
      const auto ones_of = [&](int row) { return ones[row]; };
      Sums held;
      held.Finish(a, 0, constants, ones_of);  // no sums are held yet
      held.Take({}, c);
      for (int32_t& sum : c) sum = -1;
      held.Finish(a, 0, constants, ones_of);
      EXPECT_FALSE(held.are_there);
    };
    emulated_gpu::Launch(kernel, {}, {kWarp}, 16, {.seed = random()});
    for (int m = 0; m < kRows; ++m) {
      for (int n = 0; n < kColumns; ++n) {
        ASSERT_EQ(bits[m] >> n & 1, ones[m] - 2 * sums[m][n] > constants.integers[n])
            << m << " " << n << ": " << sums[m][n];
      }
    }
  }
}

TEST(HeldSums, AreThoseThatBecomeBitsByThresholds) {
  EXPECT_TRUE(Sums::CanHold(Args(Sums::kMost)));
  EXPECT_FALSE(Sums::CanHold(Args(Sums::kMost + 1)));
  Bconv2dArgs halves = Args(1);  // half words of channels
  halves.out_channels = halves.group_out_channels = kColumns / 2;
  EXPECT_FALSE(Sums::CanHold(halves));
  Bconv2dArgs floats = Args(1);
  floats.output.kind = Bconv2dOutput::kFloat;
  floats.output.epilogue = Bconv2dOutput::kStore;
  EXPECT_FALSE(Sums::CanHold(floats));
}

}  // namespace
}  // namespace larq_engine::cuda
