#include "larq_engine/kernels/binary/select.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

constexpr BgemmShape kLayerB = {.n = 128, .k_bits = 1152};

// The row of the real table that each CPU gets. One line for each ISA that has rows.
TEST(Select, RowForEachCpu) {
  const auto chosen = [](CpuFeatures cpu) {
    return std::string(SelectBgemm(BgemmRows(), cpu, kLayerB).row->name);
  };
  EXPECT_EQ(chosen({}), "bgemm_i32_4x2x64_portable");
#if defined(__x86_64__)
  EXPECT_EQ(chosen({Isa::kPopcnt}), "bgemm_i32_4x2x64_popcnt");
  EXPECT_EQ(chosen({Isa::kPopcnt, Isa::kAvx2}), "bgemm_i32_8x32x32_avx2");
  EXPECT_EQ(chosen({Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw}), "bgemm_i32_8x64x32_avx512bw");
  EXPECT_EQ(chosen({Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vpopcntdq}),
            "bgemm_i32_6x32x32_avx512vpopcntdq");
#elif defined(__aarch64__)
  EXPECT_EQ(chosen({Isa::kNeon}), "bgemm_i32_4x16x128_neon");
  EXPECT_EQ(chosen({Isa::kNeon, Isa::kDotprod}), "bgemm_i32_4x16x128_dotprod");
  EXPECT_EQ(chosen({Isa::kNeon, Isa::kDotprod, Isa::kSme2}), "bgemm_i32_32x32x32_sme2");
#elif defined(__wasm_simd128__)
  EXPECT_EQ(chosen({Isa::kSimd128}), "bgemm_i32_8x16x32_simd128");
#endif
}

#if defined(__x86_64__)
// A wide row computes all its columns, wanted or not. These choices agree with the times measured.
TEST(Select, RowForFewColumns) {
  const auto chosen = [](CpuFeatures cpu, int64_t n, int64_t k_bits = 576) {
    const BgemmShape shape{.n = n, .k_bits = k_bits};
    return SelectBgemm(BgemmRows(), cpu, shape).row->isa;
  };
  const CpuFeatures avx2 = {Isa::kPopcnt, Isa::kAvx2};
  EXPECT_EQ(chosen(avx2, 4), Isa::kPopcnt);
  EXPECT_EQ(chosen(avx2, 16), Isa::kAvx2);
  // A block of two columns costs the popcnt row more than its single step does.
  EXPECT_EQ(chosen(avx2, 4, 64), Isa::kPopcnt);
  EXPECT_EQ(chosen(avx2, 16, 64), Isa::kAvx2);
  const CpuFeatures avx512bw = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw};
  EXPECT_EQ(chosen(avx512bw, 16), Isa::kAvx2);
  EXPECT_EQ(chosen(avx512bw, 32), Isa::kAvx2);
  EXPECT_EQ(chosen(avx512bw, 48), Isa::kAvx512bw);
  const CpuFeatures vpopcntdq = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vpopcntdq};
  EXPECT_EQ(chosen(vpopcntdq, 1), Isa::kPopcnt);
  EXPECT_EQ(chosen(vpopcntdq, 4), Isa::kAvx512vpopcntdq);
}

// One pixel waits for its filters, and rows of nibbles read twice the bytes.
TEST(Select, RowForOnePixel) {
  const auto chosen = [](CpuFeatures cpu, bool one_pixel) {
    const BgemmShape shape{.n = 4096, .k_bits = 4096, .one_pixel = one_pixel};
    return std::string(SelectBgemm(BgemmRows(), cpu, shape).row->name);
  };
  const CpuFeatures avx2 = {Isa::kPopcnt, Isa::kAvx2};
  EXPECT_EQ(chosen(avx2, true), "bgemm_i32_2x32x32_avx2");
  EXPECT_EQ(chosen(avx2, false), "bgemm_i32_8x32x32_avx2");
  const CpuFeatures avx512bw = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw};
  EXPECT_EQ(chosen(avx512bw, true), "bgemm_i32_2x64x32_avx512bw");
  EXPECT_EQ(chosen(avx512bw, false), "bgemm_i32_8x64x32_avx512bw");
}
#elif defined(__aarch64__)
// The product must be large enough to pay for beginning a tile in streaming mode.
TEST(Select, Sme2RowForLargeTiles) {
  const auto chosen = [](int64_t n, int64_t k_bits) {
    const CpuFeatures cpu = {Isa::kNeon, Isa::kDotprod, Isa::kSme2};
    return SelectBgemm(BgemmRows(), cpu, {.n = n, .k_bits = k_bits}).row->isa;
  };
  EXPECT_EQ(chosen(8, 64), Isa::kDotprod);
  EXPECT_EQ(chosen(32, 64), Isa::kDotprod);
  EXPECT_EQ(chosen(8, 128), Isa::kDotprod);
  EXPECT_EQ(chosen(64, 128), Isa::kSme2);
  EXPECT_EQ(chosen(16, 576), Isa::kSme2);
  EXPECT_EQ(chosen(512, 4608), Isa::kSme2);
}
#endif

#if defined(__aarch64__)
// If a tap did not fill the steps, its words would have to be copied together.
TEST(Select, RowForTheWordsOfATap) {
  const auto chosen = [](int64_t channels, int64_t taps) {
    const BgemmShape shape{.n = channels, .k_bits = channels * taps, .tap_bits = channels};
    return SelectBgemm(BgemmRows(), {Isa::kNeon}, shape).row->kr_bits;
  };
  for (int64_t taps : {1, 4, 9, 16, 49}) {
    EXPECT_EQ(chosen(64, taps), 64);
    EXPECT_EQ(chosen(320, taps), 64);
    EXPECT_EQ(chosen(128, taps), 128);
    EXPECT_EQ(chosen(256, taps), 128);
  }
}
#endif

// Made-up rows, to test the rules independently of the table.
constexpr BgemmRow kRows[] = {
    {.name = "narrow",
     .isa = Isa::kPortable,
     .mr = 4,
     .nr = 2,
     .kr_bits = 32,
     .macs_per_cycle = 10,
     .fn = nullptr},
    {.name = "wide",
     .isa = Isa::kPortable,
     .mr = 4,
     .nr = 64,
     .kr_bits = 32,
     .macs_per_cycle = 20,
     .fn = nullptr},
    {.name = "absent",
     .isa = Isa::kPopcnt,
     .mr = 4,
     .nr = 2,
     .kr_bits = 32,
     .macs_per_cycle = 1000,
     .fn = nullptr},
};

std::string Chosen(const BgemmShape& shape, std::string_view forced = kAutoKernel) {
  const BgemmChoice choice = SelectBgemm(kRows, {}, shape, forced);
  return choice.row == nullptr ? "error: " + choice.error : choice.row->name;
}

TEST(Select, FastestRow) { EXPECT_EQ(Chosen({.n = 64, .k_bits = 65536}), "wide"); }

TEST(Select, CountsTheColumnsThatARowWouldFillUp) {
  EXPECT_EQ(Chosen({.n = 2, .k_bits = 70000}), "narrow");
}

TEST(Select, WhatATileTakesToBeginIsSharedByItsPixels) {
  BgemmRow rows[] = {kRows[0], kRows[0]};
  rows[1].name = "slow to begin";
  rows[1].macs_per_cycle = 1000;
  rows[1].cycles_per_tile = 400;
  const auto explained = [&](int64_t k_bits) {
    return ExplainBgemm(rows, {}, {.n = 2, .k_bits = k_bits});
  };
  EXPECT_EQ(explained(480), "* narrow: 96 cycles a pixel\n  slow to begin: 101 cycles a pixel\n");
  EXPECT_EQ(explained(512), "  narrow: 102 cycles a pixel\n* slow to begin: 101 cycles a pixel\n");
}

TEST(Select, WhatABlockOfColumnsTakesIsSharedByThePixelsOfATile) {
  BgemmRow row = kRows[0];
  row.cycles_per_block = 40;
  // There are 3 blocks of 2 columns; each takes 2 * 320 / 10 cycles and a quarter of 40.
  EXPECT_EQ(BgemmCycles({}, row, {.n = 5, .k_bits = 320}), 3 * (64 + 10));
  // One pixel takes half of 40 for each block.
  EXPECT_EQ(BgemmCycles({}, row, {.n = 5, .k_bits = 320, .one_pixel = true}), 3 * (64 + 20));
}

TEST(Select, APixelAloneWaitsForItsFilters) {
  BgemmRow row = kRows[0];
  row.macs_per_cycle_of_pixel = 5;
  EXPECT_EQ(BgemmCycles({}, row, {.n = 2, .k_bits = 320}), 64);
  EXPECT_EQ(BgemmCycles({}, row, {.n = 2, .k_bits = 320, .one_pixel = true}), 128);
}

TEST(Select, ARowMayHaveAnotherRateOnAZen4) {
  BgemmRow row = kRows[0];
  row.macs_per_cycle_on_zen4 = 20;
  CpuFeatures cpu = {Isa::kAvx512vpopcntdq};
  const BgemmShape shape{.n = 2, .k_bits = 320};
  EXPECT_EQ(BgemmCycles(cpu, row, shape), 64);
  cpu.SetZen4();
  EXPECT_EQ(BgemmCycles(cpu, row, shape), 32);
  EXPECT_EQ(BgemmCycles(cpu, kRows[0], shape), 64);
}

#if defined(__x86_64__)
// POPCNT's row is the faster one for 4 filters of 256 channels on a Zen 4, the slower one on a
// Xeon.
TEST(Select, RowForFourFiltersOfAZen4) {
  CpuFeatures cpu = {Isa::kPopcnt, Isa::kAvx2, Isa::kAvx512bw, Isa::kAvx512vpopcntdq};
  const BgemmShape shape{.n = 4, .k_bits = 9 * 256, .tap_bits = 256, .taps = 9, .runs = 3};
  EXPECT_EQ(SelectBgemm(BgemmRows(), cpu, shape).row->isa, Isa::kAvx512vpopcntdq);
  cpu.SetZen4();
  EXPECT_EQ(SelectBgemm(BgemmRows(), cpu, shape).row->isa, Isa::kPopcnt);
}
#endif

TEST(Select, APixelAloneBeginsToPackWithMore) {
  BgemmShape shape{.n = 2, .k_bits = 27, .tap_bits = 32, .taps = 9, .packing_words = 9};
  const double many = BgemmCycles({}, kRows[0], shape);
  shape.one_pixel = true;
  EXPECT_TRUE(PacksTaps(kRows[0], shape));
  EXPECT_GT(BgemmCycles({}, kRows[0], shape), many);
}

TEST(Select, TapsArePackedWhereThatIsCheaperThanWhatOnlyFillsThemUp) {
  const auto shape = [](int64_t n, int64_t channels) {
    return BgemmShape{
        .n = n, .k_bits = 9 * channels, .tap_bits = 32, .taps = 9, .packing_words = 9};
  };
  // 9 taps of 3 channels become one word instead of nine, which saves 8 * 32 * 2 / 10 cycles and
  // costs 9 * 1.2.
  EXPECT_TRUE(PacksTaps(kRows[0], shape(2, 3)));
  EXPECT_FALSE(PacksTaps(kRows[0], shape(2, 28)));  // saves 8 words, 6 cycles
  EXPECT_TRUE(PacksTaps(kRows[0], shape(4, 28)));
  EXPECT_FALSE(PacksTaps(kRows[0], shape(64, 32)));
  EXPECT_EQ(ExplainBgemm(std::span(kRows).first(1), {}, shape(2, 3)),
            "* narrow: 19 cycles a pixel\n");
}

TEST(Select, NeverARowThatTheCpuLacks) {
  for (int64_t n : {1, 2, 64, 1000}) EXPECT_NE(Chosen({.n = n, .k_bits = 64}), "absent");
}

TEST(Select, ForcedByName) { EXPECT_EQ(Chosen({.n = 1, .k_bits = 64}, "wide"), "wide"); }

TEST(Select, ForcedButUnknownIsAnErrorThatNamesTheRows) {
  EXPECT_EQ(Chosen(kLayerB, "fastest"),
            "error: unknown kernel 'fastest'; expected one of auto, reference, narrow, wide");
}

TEST(Select, ForcedButImpossibleIsAnErrorThatSaysWhy) {
  EXPECT_EQ(Chosen(kLayerB, "absent"),
            "error: kernel 'absent' cannot run: this CPU has no popcnt; expected one of auto, "
            "reference, narrow, wide");
}

TEST(Select, ExplainsEveryCandidate) {
  EXPECT_EQ(ExplainBgemm(kRows, {}, {.n = 64, .k_bits = 100000}),
            "  narrow: 640000 cycles a pixel\n"
            "* wide: 320000 cycles a pixel\n"
            "  absent: this CPU has no popcnt\n");
}

TEST(CpuFeatures, PortableIsAlwaysThere) {
  EXPECT_TRUE(CpuFeatures({}).Has(Isa::kPortable));
  EXPECT_FALSE(CpuFeatures({}).Has(Isa::kPopcnt));
  EXPECT_TRUE(DetectCpuFeatures().Has(Isa::kPortable));
}

}  // namespace
}  // namespace larq_engine
