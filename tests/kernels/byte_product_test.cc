// Tests every row of the table, with one test for each clause of byte_product.h. A row that this
// CPU lacks is skipped (kernel_rows_test.cc lists these rows).
#include "larq_engine/kernels/bytes/byte_product.h"

#include <algorithm>
#include <sstream>

#include "gtest/gtest.h"
#include "larq_engine/kernels/bytes/pack_bytes.h"
#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/bits.h"
#include "tests/common/guarded_buffer.h"
#include "tests/common/seed.h"
#include "tests/kernels/row_test.h"

namespace larq_engine {
namespace {

using testing::Guard;
using testing::GuardedBuffer;
using testing::Random;

constexpr int32_t kCanary = 0x5ca1ab1e;

// A product and its operands: lhs[m][depth], rhs[n][depth], start[n].
struct Product {
  bool left_is_signed;
  size_t m;
  size_t n;
  size_t depth;
  size_t segments;
  std::vector<uint8_t> lhs;
  std::vector<int8_t> rhs;
  std::vector<int32_t> start;

  int32_t Expected(size_t i, size_t j) const {
    int64_t sum = start[j];
    for (size_t k = 0; k < depth; ++k) {
      const uint8_t left = lhs[i * depth + k];
      sum += (left_is_signed ? int64_t{static_cast<int8_t>(left)} : left) * rhs[j * depth + k];
    }
    return static_cast<int32_t>(sum);
  }
};

int64_t LargestLeft(const ByteRow& row) { return LargestOf(row.in_planes); }
int64_t LeastLeft(const ByteRow& row) { return row.left_is_signed ? INT8_MIN : 0; }
int64_t LargestRight(const ByteRow& row) { return LargestOf(row.weight_planes); }

Product RandomProduct(Random& random, const ByteRow& row, size_t m, size_t n, size_t depth) {
  Product p{.left_is_signed = row.left_is_signed,
            .m = m,
            .n = n,
            .depth = depth,
            .segments = 1,
            .lhs = {},
            .rhs = {},
            .start = {}};
  const int64_t most = LargestRight(row);
  for (size_t at = 0; at < m * depth; ++at) {
    p.lhs.push_back(static_cast<uint8_t>(random.Int(LeastLeft(row), LargestLeft(row))));
  }
  for (size_t at = 0; at < n * depth; ++at) {
    p.rhs.push_back(static_cast<int8_t>(random.Int(-most, most)));
  }
  for (size_t j = 0; j < n; ++j) {
    p.start.push_back(static_cast<int32_t>(random.Int(-1 << 20, 1 << 20)));
  }
  return p;
}

// Runs the row with every buffer at a guard page and canaries around the result.
void ExpectExact(const ByteRow& row, const Product& p, Guard guard = Guard::kAfter) {
  const size_t acc_stride = p.n + 3;
  // One run of all pixels is followed by the next, at unaligned addresses.
  const size_t run = p.depth / p.segments;
  const size_t lhs_stride = run + 1;
  const size_t segment_stride = p.m * lhs_stride + 5;
  GuardedBuffer<uint8_t> lhs((p.segments - 1) * segment_stride + (p.m - 1) * lhs_stride + run,
                             guard);
  std::fill_n(lhs.data(), lhs.size(), uint8_t{0xff});  // bytes between runs must not count
  for (size_t i = 0; i < p.m; ++i) {
    for (size_t s = 0; s < p.segments; ++s) {
      std::copy_n(p.lhs.begin() + static_cast<ptrdiff_t>(i * p.depth + s * run), run,
                  lhs.data() + i * lhs_stride + s * segment_stride);
    }
  }
  // The memory is aligned, so its end meets the guard only if its size is whole cache lines.
  GuardedBuffer<int8_t> rhs(RoundUp(PackedBytes(row, p.n, p.depth), kBufferAlignment), guard);
  PackBytes(row, p.rhs.data(), p.n, p.depth, rhs.data());
  const size_t columns = RoundUp(p.n, static_cast<size_t>(row.nr));
  GuardedBuffer<int32_t> start(RoundUp(columns, kBufferAlignment / sizeof(int32_t)), guard);
  std::fill_n(start.data(), start.size(), 0);
  std::copy(p.start.begin(), p.start.end(), start.data());
  std::vector<int32_t> acc(p.m * acc_stride + 3, kCanary);
  row.fn({.m = p.m,
          .n = p.n,
          .segments = p.segments,
          .segment_bytes = run,
          .segment_stride = segment_stride,
          .lhs = lhs.data(),
          .lhs_stride = lhs_stride,
          .rhs = rhs.data(),
          .start = start.data(),
          .acc = acc.data() + 3,
          .acc_stride = acc_stride});
  for (size_t at = 0; at < acc.size(); ++at) {
    const size_t i = at < 3 ? p.m : (at - 3) / acc_stride;
    const size_t j = at < 3 ? p.n : (at - 3) % acc_stride;
    const int32_t expected = i < p.m && j < p.n ? p.Expected(i, j) : kCanary;
    ASSERT_EQ(acc[at], expected) << row.name << " i=" << i << " j=" << j << " m=" << p.m
                                 << " n=" << p.n << " depth=" << p.depth
                                 << " segments=" << p.segments;
  }
}

class ByteProductTest : public testing::RowTest<ByteRow> {
 protected:
  size_t mr() const { return static_cast<size_t>(GetParam().mr); }
  size_t nr() const { return static_cast<size_t>(GetParam().nr); }
  size_t kr() const { return static_cast<size_t>(GetParam().kr); }
};

TEST_P(ByteProductTest, Tile) {
  for (size_t m = 1; m <= mr(); ++m) {
    for (size_t n = 1; n <= 2 * nr() + 1; ++n) {
      ExpectExact(GetParam(), RandomProduct(random_, GetParam(), m, n, kr()));
    }
  }
}

TEST_P(ByteProductTest, Left) {
  for (size_t steps : {1, 2, 3, 7, 8, 31, 32, 33, 257}) {
    // Rows may have a loop for each number of pixels.
    for (size_t m : {size_t{1}, size_t{2}, mr()}) {
      ExpectExact(GetParam(), RandomProduct(random_, GetParam(), m, nr() + 1, steps * kr()));
      for (size_t segments : {2, 3, 5}) {
        const size_t depth = segments * steps * kr();
        Product p = RandomProduct(random_, GetParam(), m, nr() + 1, depth);
        p.segments = segments;
        ExpectExact(GetParam(), p);
      }
    }
  }
}

// All numbers have the largest absolute values: no pair of products may saturate.
TEST_P(ByteProductTest, Values) {
  for (const int64_t left : {LargestLeft(GetParam()), LeastLeft(GetParam())}) {
    for (const int64_t right : {LargestRight(GetParam()), -LargestRight(GetParam())}) {
      Product p = RandomProduct(random_, GetParam(), mr(), nr(), 4 * kr());
      std::fill(p.lhs.begin(), p.lhs.end(), static_cast<uint8_t>(left));
      std::fill(p.rhs.begin(), p.rhs.end(), static_cast<int8_t>(right));
      ExpectExact(GetParam(), p);
    }
  }
}

TEST_P(ByteProductTest, RightSide) {
  // The filters' bytes are numbered, and each must be where the contract puts it.
  const size_t n = nr() + 1;
  const size_t depth = 2 * kr() + 1;
  std::vector<int8_t> filters(n * depth);
  for (size_t at = 0; at < filters.size(); ++at) filters[at] = static_cast<int8_t>(at % 127 + 1);
  std::vector<int8_t> packed(PackedBytes(GetParam(), n, depth));
  PackBytes(GetParam(), filters.data(), n, depth, packed.data());
  const size_t filled = 3 * kr();
  ASSERT_EQ(packed.size(), 2 * nr() * filled);
  for (size_t j = 0; j < 2 * nr(); ++j) {
    for (size_t k = 0; k < filled; ++k) {
      const size_t at = j / nr() * filled * nr() + k / kByteStep * nr() * kByteStep +
                        j % nr() * kByteStep + k % kByteStep;
      const int expected = j < n && k < depth ? filters[j * depth + k] : 0;
      ASSERT_EQ(packed[at], expected) << GetParam().name << " j=" << j << " k=" << k;
    }
  }
}

TEST_P(ByteProductTest, Parts) {
  // The columns of a part, packed with all others, must give the same results as when packed alone.
  SCOPED_TRACE(testing::ReplayHint());
  ASSERT_EQ(kRhsPartColumns % nr(), 0u) << GetParam().name;
  const size_t columns = 2 * kRhsPartColumns + 1;
  const size_t depth = 3 * kr();
  const Product p = RandomProduct(random_, GetParam(), 1, columns, depth);
  AlignedBuffer<uint8_t> lhs(RoundUp(depth, kBufferAlignment));
  std::copy(p.lhs.begin(), p.lhs.end(), lhs.data());
  AlignedBuffer<int8_t> rhs(PackedBytes(GetParam(), columns, depth));
  PackBytes(GetParam(), p.rhs.data(), columns, depth, rhs.data());
  AlignedBuffer<int32_t> start(RoundUp(columns, kRhsPartColumns));
  std::copy(p.start.begin(), p.start.end(), start.data());
  for (const size_t first : {size_t{0}, kRhsPartColumns, 2 * kRhsPartColumns}) {
    const size_t n = std::min(kRhsPartColumns, columns - first);
    std::vector<int32_t> acc(n, kCanary);
    GetParam().fn({.m = 1,
                   .n = n,
                   .segments = 1,
                   .segment_bytes = depth,
                   .segment_stride = 0,
                   .lhs = lhs.data(),
                   .lhs_stride = lhs.size(),
                   .rhs = rhs.data() + first * depth,
                   .start = start.data() + first,
                   .acc = acc.data(),
                   .acc_stride = n});
    for (size_t j = 0; j < n; ++j) {
      ASSERT_EQ(acc[j], p.Expected(0, first + j)) << GetParam().name << " column " << first + j;
    }
  }
}

TEST_P(ByteProductTest, Reads) {
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (size_t n : {size_t{1}, nr(), 16 * nr()}) {
      for (size_t m : {size_t{1}, mr()}) {
        // The depth is whole cache lines, so that rows end where memory ends.
        const size_t depth = 2 * std::max(kr(), kBufferAlignment);
        ExpectExact(GetParam(), RandomProduct(random_, GetParam(), m, n, depth), guard);
      }
    }
  }
}

TEST_P(ByteProductTest, Wraps) {
  // The sums are far past 16 bits and the 24 bits of a float.
  const size_t depth = (size_t{1} << 17) / kr() * kr();
  Product p{.left_is_signed = GetParam().left_is_signed,
            .m = 1,
            .n = 1,
            .depth = depth,
            .segments = 1,
            .lhs = std::vector<uint8_t>(depth, static_cast<uint8_t>(LargestLeft(GetParam()))),
            .rhs = std::vector<int8_t>(depth, 1),
            .start = {0}};
  ExpectExact(GetParam(), p);
  // This is the largest possible sum, and it is added to the largest start.
  const auto weight = static_cast<int8_t>(-LargestRight(GetParam()));
  const int64_t step = LargestLeft(GetParam()) * -int64_t{weight};
  p.depth = static_cast<size_t>(kMaxDot / step) / kr() * kr();
  p.lhs.resize(p.depth);
  p.rhs.assign(p.depth, weight);
  for (int64_t start : {kMaxDot, int64_t{INT32_MAX}, int64_t{INT32_MIN}}) {
    p.start = {static_cast<int32_t>(start)};
    ExpectExact(GetParam(), p);
  }
}

TEST_P(ByteProductTest, Exact) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    const auto size = [&](int64_t max) { return static_cast<size_t>(random_.Int(1, max)); };
    const size_t m = size(GetParam().mr);
    const size_t n = size(70);
    ExpectExact(GetParam(), RandomProduct(random_, GetParam(), m, n, size(40) * kr()));
  }
}

TEST_P(ByteProductTest, Expand) {
  for (size_t planes = 1; planes <= 8; ++planes) {
    for (size_t words = 1; words <= 9; ++words) {
      for (size_t gap : {0, 1, 5}) {  // words between planes
        for (size_t offset : {0, 1, 3}) {
          for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
            const size_t plane_words = words + gap;
            const std::vector<uint32_t> run = random_.Words((planes - 1) * plane_words + words);
            const GuardedBuffer<uint32_t> in(std::span<const uint32_t>(run), guard);
            GuardedBuffer<uint8_t> out(offset + words * kWordBits, guard);
            std::fill_n(out.data(), out.size(), uint8_t{0xa5});
            GetParam().expand({.run = in.data(),
                               .words = words,
                               .planes = planes,
                               .plane_words = plane_words,
                               .bytes = out.data() + offset});
            for (size_t at = 0; at < offset; ++at) ASSERT_EQ(out.data()[at], 0xa5);
            for (size_t at = 0; at < words * kWordBits; ++at) {
              int expected = 0;
              for (size_t p = 0; p < planes; ++p) {
                const uint32_t word = run[p * plane_words + at / kWordBits];
                if (word >> at % kWordBits & 1) expected += 1 << p;
              }
              ASSERT_EQ(out.data()[offset + at], expected)
                  << GetParam().name << " byte " << at << " of " << words << " words, " << planes
                  << " planes";
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ByteProductTest,
                         ::testing::ValuesIn(ByteRows().begin(), ByteRows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PackBytes, PlanesInPartsOfBytes) {
  const auto parts = [](int64_t planes, int64_t most) {
    std::string text;
    for (const PlanePart& part : PlaneParts(planes, most)) {
      text += std::to_string(part.first) + "+" + std::to_string(part.count) + " ";
    }
    return text;
  };
  EXPECT_EQ(parts(1, 7), "0+1 ");
  EXPECT_EQ(parts(7, 7), "0+7 ");
  EXPECT_EQ(parts(8, 7), "0+7 7+1 ");
  EXPECT_EQ(parts(8, 3), "0+3 3+3 6+2 ");
}

TEST(ByteTable, NamesSayWhatRowsAre) {
  for (const ByteRow& row : ByteRows()) {
    std::ostringstream name;
    name << "bytes_i32_" << row.mr << "x" << row.nr << "x" << row.kr << "_" << IsaName(row.isa);
    EXPECT_EQ(row.name, name.str());
    EXPECT_EQ(row.kr % static_cast<int>(kByteStep), 0) << row.name;
    EXPECT_LE(row.in_planes, row.left_is_signed ? 7 : 8) << row.name;
    EXPECT_GT(row.macs_per_cycle, 0) << row.name;
    EXPECT_GT(row.expanded_per_cycle, 0) << row.name;
  }
}

}  // namespace
}  // namespace larq_engine
