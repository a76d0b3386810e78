// Tests every row of the table, with one test for each clause of bgemm.h. A row that this CPU lacks
// is skipped (kernel_rows_test.cc lists these rows).
#include "larq_engine/kernels/binary/bgemm.h"

#include <algorithm>
#include <bit>
#include <sstream>

#include "gtest/gtest.h"
#include "larq_engine/kernels/binary/pack_rhs.h"
#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

constexpr int32_t kCanary = 0x5ca1ab1e;

// A product and its operands, unpacked: lhs[m][segments][segment_words], rhs[n][segments * words].
struct Product {
  size_t m;
  size_t n;
  size_t segments;
  size_t segment_words;
  std::vector<uint32_t> lhs;
  std::vector<uint32_t> rhs;

  size_t depth_words() const { return segments * segment_words; }
  int32_t Expected(size_t i, size_t j) const {
    int32_t count = 0;
    for (size_t k = 0; k < depth_words(); ++k) {
      count += std::popcount(lhs[i * depth_words() + k] ^ rhs[j * depth_words() + k]);
    }
    return count;
  }
};

Product RandomProduct(Random& random, size_t m, size_t n, size_t segments, size_t segment_words) {
  return {.m = m,
          .n = n,
          .segments = segments,
          .segment_words = segment_words,
          .lhs = random.Words(m * segments * segment_words),
          .rhs = random.Words(n * segments * segment_words)};
}

// Runs the row with every buffer at a guard page and canaries around the result. `slack` words
// follow each run, so that its start has another alignment.
void ExpectExact(const BgemmRow& row, const Product& p, Guard guard = Guard::kAfter,
                 size_t slack = 0) {
  const size_t mr = static_cast<size_t>(row.mr);
  const size_t stride = p.n + 3;
  // Each run is a buffer of its own; entries of the tile with i >= m must not be read.
  std::vector<std::unique_ptr<GuardedBuffer<uint32_t>>> runs;
  const uint32_t* const base = p.lhs.data();
  std::vector<ptrdiff_t> offsets(p.segments * mr,
                                 LhsOffset(base, reinterpret_cast<const uint32_t*>(uintptr_t{16})));
  for (size_t s = 0; s < p.segments; ++s) {
    for (size_t i = 0; i < p.m; ++i) {
      runs.push_back(std::make_unique<GuardedBuffer<uint32_t>>(p.segment_words + slack, guard));
      std::copy_n(p.lhs.begin() + i * p.depth_words() + s * p.segment_words, p.segment_words,
                  runs.back()->data());
      offsets[s * mr + i] = LhsOffset(base, runs.back()->data());
    }
  }
  // The packed right side is aligned, so its end meets the guard only for sizes of whole lines.
  const size_t packed_words = PackedRhsWords(row, p.n, p.depth_words());
  GuardedBuffer<uint32_t> rhs(RoundUp(packed_words, kBufferAlignment / sizeof(uint32_t)), guard);
  PackRhs(row, p.rhs.data(), p.n, p.depth_words(), rhs.data());
  std::vector<int32_t> acc(p.m * stride + 3, kCanary);
  row.fn({.m = p.m,
          .n = p.n,
          .segments = p.segments,
          .segment_words = p.segment_words,
          .lhs_base = base,
          .lhs = offsets.data(),
          .rhs = rhs.data(),
          .acc = acc.data() + 3,
          .acc_stride = stride});
  for (size_t at = 0; at < acc.size(); ++at) {
    const size_t i = at < 3 ? p.m : (at - 3) / stride;
    const size_t j = at < 3 ? p.n : (at - 3) % stride;
    const int32_t expected = i < p.m && j < p.n ? p.Expected(i, j) : kCanary;
    ASSERT_EQ(acc[at], expected) << row.name << " i=" << i << " j=" << j << " m=" << p.m
                                 << " n=" << p.n << " segments=" << p.segments
                                 << " segment_words=" << p.segment_words;
  }
}

class BgemmTest : public testing::RowTest<BgemmRow> {};

TEST_P(BgemmTest, Tile) {
  const BgemmRow& row = GetParam();
  for (size_t m = 1; m <= static_cast<size_t>(row.mr); ++m) {
    for (size_t n = 1; n <= 2 * static_cast<size_t>(row.nr) + 1; ++n) {
      ExpectExact(row, RandomProduct(random_, m, n, 1, row.kr_words()));
    }
  }
}

TEST_P(BgemmTest, TileOfManyColumns) {
  const BgemmRow& row = GetParam();
  const size_t m = static_cast<size_t>(row.mr);
  for (size_t n = 2 * kRhsPartColumns; n <= 5 * kRhsPartColumns; n += 15) {
    ExpectExact(row, RandomProduct(random_, m - n % 2 * (m > 1), n, 1, row.kr_words()));
  }
}

TEST_P(BgemmTest, Segments) {
  const BgemmRow& row = GetParam();
  for (size_t segments : {1, 2, 3, 9, 25}) {
    ExpectExact(row, RandomProduct(random_, static_cast<size_t>(row.mr),
                                   static_cast<size_t>(row.nr), segments, row.kr_words()));
  }
}

TEST_P(BgemmTest, Depth) {
  const BgemmRow& row = GetParam();
  for (size_t steps : {1, 2, 3, 7, 8, 31, 32, 33, 257}) {
    ExpectExact(row, RandomProduct(random_, static_cast<size_t>(row.mr),
                                   static_cast<size_t>(row.nr) + 1, 1, steps * row.kr_words()));
  }
}

TEST_P(BgemmTest, DepthPaddedWithEqualBitsAddsNothing) {
  const BgemmRow& row = GetParam();
  Product p = RandomProduct(random_, 1, 1, 1, 2 * row.kr_words());
  for (size_t k = 1; k < p.depth_words(); ++k) p.lhs[k] = p.rhs[k] = 0;
  ASSERT_EQ(p.Expected(0, 0), std::popcount(p.lhs[0] ^ p.rhs[0]));
  ExpectExact(row, p);
}

TEST_P(BgemmTest, Spatial) {
  const BgemmRow& row = GetParam();
  Product p = RandomProduct(random_, static_cast<size_t>(row.mr), static_cast<size_t>(row.nr), 3,
                            row.kr_words());
  for (size_t i = 0; i < p.m; ++i) {
    uint32_t* runs = p.lhs.data() + i * p.depth_words();
    std::fill_n(runs, p.segment_words, 0u);                     // padded with +1
    std::fill_n(runs + p.segment_words, p.segment_words, ~0u);  // padded with -1
  }
  ExpectExact(row, p);
}

TEST_P(BgemmTest, RightSideOfVectors) {
  // This checks the same as RightSideOfWords, part by part of each word.
  const BgemmRow& row = GetParam();
  if (row.rhs == RhsForm::kWords) return;
  const size_t bits = row.rhs == RhsForm::kBytes ? 8 : 4;
  const size_t parts = kWordBits / bits;
  const size_t nr = static_cast<size_t>(row.nr);
  const size_t n = nr + 1;
  const size_t words = 3;
  const std::vector<uint32_t> filters = random_.Words(n * words);
  std::vector<uint32_t> packed(PackedRhsWords(row, n, words));
  PackRhs(row, filters.data(), n, words, packed.data());
  const size_t slack = 2 * nr * words * parts / sizeof(uint32_t);
  ASSERT_EQ(packed.size(), slack + kRhsSlackWords);
  for (size_t at = slack; at < packed.size(); ++at) ASSERT_EQ(packed[at], 0u) << row.name;
  for (size_t j = 0; j < 2 * nr; ++j) {
    for (size_t k = 0; k < words; ++k) {
      for (size_t part = 0; part < parts; ++part) {
        const size_t vector = (j / nr * words + k) * parts + part;
        const size_t byte = vector * nr + j % nr % (nr / 2) * 2 + j % nr / (nr / 2);
        const uint32_t got = packed[byte / 4] >> (byte % 4 * 8) & 0xff;
        const uint32_t mask = (1u << bits) - 1;
        const uint32_t expected = j < n ? filters[j * words + k] >> (part * bits) & mask : 0;
        ASSERT_EQ(got, expected) << row.name << " j=" << j << " k=" << k << " part " << part;
      }
    }
  }
}

TEST_P(BgemmTest, RightSideOfWords) {
  // The filters' words are numbered, and each must be where the contract puts it.
  const BgemmRow& row = GetParam();
  if (row.rhs != RhsForm::kWords) return;
  const size_t nr = static_cast<size_t>(row.nr);
  const size_t kr = row.kr_words();
  const size_t n = nr + 1;
  const size_t k_words = 2 * kr + 1;
  std::vector<uint32_t> filters(n * k_words);
  for (size_t at = 0; at < filters.size(); ++at) filters[at] = static_cast<uint32_t>(at) + 1;
  std::vector<uint32_t> packed(PackedRhsWords(row, n, k_words));
  PackRhs(row, filters.data(), n, k_words, packed.data());
  const size_t steps = 3;  // k_words, rounded up
  const size_t slack = 2 * nr * steps * kr;
  ASSERT_EQ(packed.size(), slack + kRhsSlackWords);
  for (size_t at = slack; at < packed.size(); ++at) ASSERT_EQ(packed[at], 0u) << row.name;
  for (size_t j = 0; j < 2 * nr; ++j) {
    for (size_t k = 0; k < steps * kr; ++k) {
      const size_t at = (j / nr * steps + k / kr) * nr * kr + j % nr * kr + k % kr;
      const uint32_t expected = j < n && k < k_words ? filters[j * k_words + k] : 0;
      ASSERT_EQ(packed[at], expected) << row.name << " j=" << j << " k=" << k;
    }
  }
}

TEST_P(BgemmTest, Parts) {
  // The columns of a part, packed with all others, must give the same results as when packed alone.
  SCOPED_TRACE(testing::ReplayHint());
  const BgemmRow& row = GetParam();
  ASSERT_EQ(kRhsPartColumns % static_cast<size_t>(row.nr), 0u) << row.name;
  const size_t m = static_cast<size_t>(row.mr);
  const size_t words = 3 * row.kr_words();
  const size_t columns = 2 * kRhsPartColumns + 1;
  const Product p = RandomProduct(random_, m, columns, 1, words);
  const PackedFilters packed(row, p.rhs.data(), 1, columns, words);
  std::vector<ptrdiff_t> offsets(m);
  for (size_t i = 0; i < m; ++i) offsets[i] = static_cast<ptrdiff_t>(i * words);
  for (const size_t first : {size_t{0}, kRhsPartColumns, 2 * kRhsPartColumns}) {
    const size_t n = std::min(kRhsPartColumns, columns - first);
    std::vector<int32_t> acc(m * n, kCanary);
    const uint32_t* part = packed.Columns(0, first);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(part) % kBufferAlignment, 0u);
    row.fn({.m = m,
            .n = n,
            .segments = 1,
            .segment_words = words,
            .lhs_base = p.lhs.data(),
            .lhs = offsets.data(),
            .rhs = part,
            .acc = acc.data(),
            .acc_stride = n});
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        ASSERT_EQ(acc[i * n + j], p.Expected(i, first + j)) << row.name << " column " << first + j;
      }
    }
  }
}

TEST_P(BgemmTest, Reads) {
  const BgemmRow& row = GetParam();
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t n : {size_t{1}, static_cast<size_t>(row.nr), 16 * static_cast<size_t>(row.nr)}) {
      ExpectExact(row, RandomProduct(random_, static_cast<size_t>(row.mr), n, 2, row.kr_words()),
                  guard);
    }
  }
}

TEST_P(BgemmTest, ReadsRunsThatAreAlignedToAWordOnly) {
  const BgemmRow& row = GetParam();
  for (size_t slack : {1, 2, 3}) {  // runs end, and so start, that many words before a page
    ExpectExact(row,
                RandomProduct(random_, static_cast<size_t>(row.mr), static_cast<size_t>(row.nr), 2,
                              4 * row.kr_words()),
                Guard::kAfter, slack);
  }
}

TEST_P(BgemmTest, MaxDepth) {
  // All bits differ, so the accumulator reaches k_bits. A test should not allocate as much memory
  // as kMaxDot takes; 2^25 is past any 16-bit accumulator and the 24 bits of a float.
  const BgemmRow& row = GetParam();
  constexpr int64_t k_bits = int64_t{1} << 25;
  static_assert(k_bits <= kMaxDot);
  const size_t words = static_cast<size_t>(k_bits) / kWordBits / row.kr_words() * row.kr_words();
  const std::vector<uint32_t> zeros(words, 0);
  AlignedBuffer<uint32_t> rhs(PackedRhsWords(row, 1, words));
  const std::vector<uint32_t> ones(words, ~0u);
  PackRhs(row, ones.data(), 1, words, rhs.data());
  const std::vector<ptrdiff_t> runs(static_cast<size_t>(row.mr), 0);
  int32_t acc = kCanary;
  row.fn({.m = 1,
          .n = 1,
          .segments = 1,
          .segment_words = words,
          .lhs_base = zeros.data(),
          .lhs = runs.data(),
          .rhs = rhs.data(),
          .acc = &acc,
          .acc_stride = 1});
  EXPECT_EQ(acc, static_cast<int32_t>(words * kWordBits)) << row.name;
}

TEST_P(BgemmTest, DeepRuns) {
  // The depth exceeds 16 bits in several runs, each of which exceeds 16 bits, too; there are whole
  // tiles and a part of one.
  SCOPED_TRACE(testing::ReplayHint());
  const BgemmRow& row = GetParam();
  const size_t mr = static_cast<size_t>(row.mr);
  const size_t nr = static_cast<size_t>(row.nr);
  ExpectExact(row, RandomProduct(random_, mr, nr + 1, 3, 2100 / row.kr_words() * row.kr_words()));
}

TEST_P(BgemmTest, Exact) {
  const BgemmRow& row = GetParam();
  for (int repeat = 0; repeat < 50; ++repeat) {
    const auto size = [&](int64_t max) { return static_cast<size_t>(random_.Int(1, max)); };
    const size_t m = size(row.mr);
    const size_t n = size(70);
    const size_t segments = size(9);
    ExpectExact(row, RandomProduct(random_, m, n, segments, size(6) * row.kr_words()));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, BgemmTest,
                         ::testing::ValuesIn(BgemmRows().begin(), BgemmRows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(KernelTable, NamesSayWhatRowsAre) {
  for (const BgemmRow& row : BgemmRows()) {
    std::ostringstream name;
    name << "bgemm_i32_" << row.mr << "x" << row.nr << "x" << row.kr_bits << "_"
         << IsaName(row.isa);
    EXPECT_EQ(row.name, name.str());
    EXPECT_EQ(row.kr_bits % static_cast<int>(kWordBits), 0) << row.name;
    EXPECT_GT(row.macs_per_cycle, 0) << row.name;
  }
}

}  // namespace
}  // namespace larq_engine
