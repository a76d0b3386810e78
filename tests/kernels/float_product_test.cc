// Tests every row of the table, with one test for each clause of float_product.h, against sums
// written from the contract. A row that this CPU lacks is skipped (kernel_rows_test.cc lists these
// rows).
#include "larq_engine/kernels/floats/float_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/floats/table.h"
#include "larq_engine/kernels/layers/select_product.h"
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

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr FloatRange kNoClamp = {-kInfinity, kInfinity};

constexpr float kCanary = __builtin_bit_cast(float, 0x5ca1ab1e);

// Numbers of columns around whole vectors and whole blocks.
constexpr size_t kColumns[] = {1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  11,  12,  13,  14,
                               15, 16, 17, 18, 19, 20, 31, 32,  33,  47,  48,  49,  63,  64,
                               65, 79, 80, 81, 95, 96, 97, 111, 112, 113, 127, 128, 129, 130};

// A product and its operands: lhs[m][segments * segment_words], rhs[n][depth], bias[n].
struct Product {
  bool of_channels;
  size_t m;
  size_t n;
  size_t segments;
  size_t segment_words;
  std::vector<float> lhs;
  std::vector<float> rhs;
  std::vector<float> bias;
  FloatRange range = kNoClamp;

  size_t words() const { return segments * segment_words; }  // words of a pixel
  size_t depth() const { return of_channels ? words() / n : words(); }
  float Expected(size_t i, size_t j) const {
    float sum = 0;
    for (size_t k = 0; k < depth(); ++k) {
      const size_t word = of_channels ? k * n + j : k;
      sum = std::fma(lhs[i * words() + word], rhs[j * depth() + k], sum);
    }
    sum += bias[j];
    if (sum < range.min) return range.min;
    return sum > range.max ? range.max : sum;
  }
};

// `steps` is the number of taps of a run if of_channels, and else its number of words.
Product RandomProduct(Random& random, bool of_channels, size_t m, size_t n, size_t segments,
                      size_t steps) {
  Product p{.of_channels = of_channels,
            .m = m,
            .n = n,
            .segments = segments,
            .segment_words = of_channels ? steps * n : steps,
            .lhs = {},
            .rhs = {},
            .bias = {}};
  const auto draw = [&](std::vector<float>& values, size_t count) {
    for (; count > 0; --count) values.push_back(random.Float(-2, 2));
  };
  draw(p.lhs, m * p.words());
  draw(p.rhs, n * p.depth());
  draw(p.bias, n);
  return p;
}

size_t FilledColumns(const Product& p) { return RoundUp(p.n, kFloatLanes); }

// Returns where the contract puts the right side's column j for k.
size_t PlaceOf(const Product& p, size_t nr, size_t j, size_t k) {
  if (p.of_channels) return k * FilledColumns(p) + j;
  const size_t block = j / nr * nr;
  const size_t columns = std::min(nr, FilledColumns(p) - block);
  return block * p.depth() + k * columns + (j - block);
}

void PackRight(const Product& p, size_t nr, float* rhs) {
  std::fill_n(rhs, FilledColumns(p) * p.depth(), 0.0f);
  for (size_t j = 0; j < p.n; ++j) {
    for (size_t k = 0; k < p.depth(); ++k) rhs[PlaceOf(p, nr, j, k)] = p.rhs[j * p.depth() + k];
  }
}

FloatFn FunctionOf(const FloatRow& row, const Product& p) {
  return p.of_channels ? row.of_channels : row.of_pixels;
}

// Runs the row with every buffer at a guard page and canaries around the result.
void ExpectExact(const FloatRow& row, const Product& p, Guard guard = Guard::kAfter,
                 size_t pixel_step = 0) {
  // Each run is a buffer of its own. If runs are a step apart, each segment is one. Entries with i
  // >= m must not be read.
  std::vector<std::unique_ptr<GuardedBuffer<float>>> runs;
  const float* const base = p.lhs.data();
  const auto offset = [&](const void* run) {
    return static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(run) -
                                  reinterpret_cast<uintptr_t>(base)) /
           static_cast<ptrdiff_t>(sizeof(float));
  };
  GuardedBuffer<ptrdiff_t> offsets(p.segments * kFloatPixels, guard);
  std::fill_n(offsets.data(), offsets.size(), offset(reinterpret_cast<const void*>(16)));
  for (size_t s = 0; s < p.segments; ++s) {
    const size_t segment_words = (p.m - 1) * pixel_step + p.segment_words;
    for (size_t i = 0; i < p.m; ++i) {
      if (i == 0 || pixel_step == 0) {
        const size_t words = pixel_step == 0 ? p.segment_words : segment_words;
        runs.push_back(std::make_unique<GuardedBuffer<float>>(words, guard));
        std::fill_n(runs.back()->data(), words, kCanary);
      }
      float* run = runs.back()->data() + i * pixel_step;
      std::copy_n(&p.lhs[i * p.words() + s * p.segment_words], p.segment_words, run);
      offsets.data()[s * kFloatPixels + i] = offset(run);
    }
  }
  // Both have whole cache lines, so that their ends meet the guard.
  GuardedBuffer<float> rhs(FilledColumns(p) * p.depth(), guard);
  PackRight(p, static_cast<size_t>(row.nr), rhs.data());
  GuardedBuffer<float> bias(FilledColumns(p), guard);
  std::fill_n(bias.data(), bias.size(), 0.0f);
  std::copy(p.bias.begin(), p.bias.end(), bias.data());
  // The first value is at the beginning of the memory, or the last one at its end.
  const size_t stride = p.n + 3;
  const size_t first = guard == Guard::kAfter ? 3 : 0;
  GuardedBuffer<float> out(p.m * stride, guard);
  std::fill_n(out.data(), out.size(), kCanary);
  FunctionOf(row, p)({.m = p.m,
                      .n = p.n,
                      .segments = p.segments,
                      .segment_words = p.segment_words,
                      .lhs_base = base,
                      .lhs = offsets.data(),
                      .pixel_step = pixel_step,
                      .rhs = rhs.data(),
                      .bias = bias.data(),
                      .range = p.range,
                      .out = out.data() + first,
                      .out_stride = stride});
  for (size_t at = 0; at < out.size(); ++at) {
    const size_t i = at < first ? p.m : (at - first) / stride;
    const size_t j = at < first ? p.n : (at - first) % stride;
    const float expected = i < p.m && j < p.n ? p.Expected(i, j) : kCanary;
    ASSERT_TRUE(SameFloat(out.data()[at], expected))
        << row.name << (p.of_channels ? " of channels" : " of pixels") << ": " << out.data()[at]
        << " instead of " << expected << " at i=" << i << " j=" << j << " m=" << p.m << " n=" << p.n
        << " segments=" << p.segments << " segment_words=" << p.segment_words;
  }
}

class FloatProductTest : public testing::RowTest<FloatRow> {
 protected:
  size_t nr() const { return static_cast<size_t>(GetParam().nr); }
};

TEST_P(FloatProductTest, Tile) {
  for (bool of_channels : {false, true}) {
    for (size_t m = 1; m <= kFloatPixels; ++m) {
      for (size_t n : kColumns) {
        ExpectExact(GetParam(), RandomProduct(random_, of_channels, m, n, 1, 3));
      }
    }
  }
}

TEST_P(FloatProductTest, Segments) {
  for (bool of_channels : {false, true}) {
    for (size_t segments : {1, 2, 3, 5, 9}) {
      for (size_t steps : {1, 2, 3, 4, 7, 16, 33}) {
        for (size_t n : {size_t{3}, size_t{16}, nr() + 1}) {
          const auto m = static_cast<size_t>(random_.Int(1, kFloatPixels));
          ExpectExact(GetParam(), RandomProduct(random_, of_channels, m, n, segments, steps));
        }
      }
    }
  }
}

TEST_P(FloatProductTest, SegmentsOfPixelsThatAreAStepApart) {
  for (bool of_channels : {false, true}) {
    for (size_t m : {size_t{1}, kFloatPixels - 1, kFloatPixels}) {
      for (size_t n : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{15}, size_t{16},
                       size_t{17}, nr(), nr() + 8, nr() + 16}) {
        for (size_t steps : {1, 4, 9}) {
          const Product p = RandomProduct(random_, of_channels, m, n, 3, steps);
          for (size_t gap : {0, 1, 29}) {
            ExpectExact(GetParam(), p, Guard::kAfter, p.segment_words + gap);
            ExpectExact(GetParam(), p, Guard::kBefore, p.segment_words + gap);
          }
        }
      }
    }
  }
}

TEST_P(FloatProductTest, PixelsThatShareTaps) {
  constexpr size_t kSegments = 3;
  for (size_t taps : {1, 2, 3, 4, 5, 6}) {
    for (size_t step : {1, 2, 3}) {
      for (size_t m : {size_t{1}, size_t{2}, size_t{5}, size_t{6}, size_t{11}, kFloatPixels}) {
        for (size_t n : {1, 7, 8, 9, 16, 17, 33, 40, 72}) {
          Product p = RandomProduct(random_, /*of_channels=*/true, m, n, kSegments, taps);
          std::vector<float> lines(kSegments * ((m - 1) * step + taps) * n);
          for (float& value : lines) value = random_.Float(-2, 2);
          for (size_t i = 0; i < m; ++i) {
            for (size_t s = 0; s < kSegments; ++s) {
              const size_t line = s * ((m - 1) * step + taps);
              std::copy_n(&lines[(line + i * step) * n], p.segment_words,
                          &p.lhs[i * p.words() + s * p.segment_words]);
            }
          }
          ExpectExact(GetParam(), p, Guard::kAfter, step * n);
          ExpectExact(GetParam(), p, Guard::kBefore, step * n);
        }
      }
    }
  }
}

// There are as many products as a large layer has, so that any other order would round differently.
TEST_P(FloatProductTest, Order) {
  ExpectExact(GetParam(), RandomProduct(random_, false, kFloatPixels, nr() + 5, 9, 513));
  ExpectExact(GetParam(), RandomProduct(random_, true, kFloatPixels, nr() + 5, 31, 31));
}

// Pixel i must find value number i of each column; all values are different whole numbers.
TEST_P(FloatProductTest, RightSide) {
  for (bool of_channels : {false, true}) {
    for (size_t n : kColumns) {
      const size_t depth = kFloatPixels;
      Product p{.of_channels = of_channels,
                .m = depth,
                .n = n,
                .segments = 1,
                .segment_words = of_channels ? depth * n : depth,
                .lhs = {},
                .rhs = {},
                .bias = std::vector<float>(n)};
      for (size_t at = 0; at < p.m * p.words(); ++at) {
        const size_t i = at / p.words(), k = at % p.words() / (of_channels ? n : 1);
        p.lhs.push_back(i == k ? 1.0f : 0.0f);
      }
      for (size_t at = 0; at < n * depth; ++at) p.rhs.push_back(static_cast<float>(at + 1));
      ExpectExact(GetParam(), p);
    }
  }
}

// Columns from one multiple of nr to another, or to the end, must give the same results as among
// all others.
TEST_P(FloatProductTest, Parts) {
  for (size_t columns : {2 * nr() + 1, 3 * nr(), 3 * nr() + 17, 4 * nr() - 1}) {
    const Product p = RandomProduct(random_, false, 7, columns, 1, 21);
    AlignedBuffer<float> rhs(FilledColumns(p) * p.depth());
    PackRight(p, nr(), rhs.data());
    AlignedBuffer<float> bias(FilledColumns(p));
    std::fill_n(bias.data(), bias.size(), 0.0f);
    std::copy(p.bias.begin(), p.bias.end(), bias.data());
    std::vector<ptrdiff_t> runs;
    for (size_t i = 0; i < kFloatPixels; ++i) {
      runs.push_back(static_cast<ptrdiff_t>(i * p.segment_words));
    }
    for (size_t first = 0; first < columns; first += nr()) {
      for (size_t last = first + nr(); last < columns + nr(); last += nr()) {
        const size_t n = std::min(last, columns) - first;
        std::vector<float> out(p.m * columns, kCanary);
        GetParam().of_pixels({.m = p.m,
                              .n = n,
                              .segments = p.segments,
                              .segment_words = p.segment_words,
                              .lhs_base = p.lhs.data(),
                              .lhs = runs.data(),
                              .pixel_step = 0,
                              .rhs = rhs.data() + first * p.depth(),
                              .bias = bias.data() + first,
                              .range = p.range,
                              .out = out.data() + first,
                              .out_stride = columns});
        for (size_t at = 0; at < out.size(); ++at) {
          const size_t i = at / columns, j = at % columns;
          const float expected = j >= first && j < first + n ? p.Expected(i, j) : kCanary;
          ASSERT_TRUE(SameFloat(out[at], expected))
              << GetParam().name << ": " << out[at] << " instead of " << expected << " at i=" << i
              << " j=" << j << " of columns " << first << " to " << first + n;
        }
      }
    }
  }
}

TEST_P(FloatProductTest, Reads) {
  for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
    for (bool of_channels : {false, true}) {
      for (size_t n : kColumns) {
        for (size_t m : {size_t{1}, size_t{5}, size_t{6}, size_t{11}, kFloatPixels}) {
          // Runs end or begin where memory does, so at any address of a float.
          const auto steps = static_cast<size_t>(random_.Int(1, 9));
          ExpectExact(GetParam(), RandomProduct(random_, of_channels, m, n, 2, steps), guard);
        }
      }
    }
  }
}

constexpr FloatRange kRanges[] = {kNoClamp, {0, kInfinity},   {-1, 1},
                                  {0, 6},   {-kInfinity, -3}, {5, 5}};

// The sums are 1 * value plus 2^-140 * 0, which changes no value, or plus a product so small that
// it is -0. The bias changes none either.
TEST_P(FloatProductTest, Clamp) {
  struct Column {
    float value;
    float underflow;
  };
  std::vector<Column> columns = {{0, -0x1p-20f}};
  std::vector<float> values = {0.0f,      kNaN,       -kNaN,    kInfinity, -kInfinity,
                               0x1p-149f, -0x1p-149f, 0x1p127f, -0x1p127f};
  for (const FloatRange& range : kRanges) {
    for (float limit : {range.min, range.max}) {
      values.push_back(limit);
      values.push_back(std::nextafter(limit, kInfinity));
      values.push_back(std::nextafter(limit, -kInfinity));
    }
  }
  for (float value : values) columns.push_back({value, 0});
  for (const FloatRange& range : kRanges) {
    for (bool of_channels : {false, true}) {
      for (size_t m : {size_t{1}, kFloatPixels}) {
        for (size_t n : {size_t{7}, size_t{16}, columns.size(), 2 * nr() + 3}) {
          Product p{.of_channels = of_channels,
                    .m = m,
                    .n = n,
                    .segments = 2,
                    .segment_words = of_channels ? n : 1,
                    .lhs = {},
                    .rhs = {},
                    .bias = std::vector<float>(n, -0.0f),
                    .range = range};
          for (size_t i = 0; i < m; ++i) {
            p.lhs.insert(p.lhs.end(), p.segment_words, 1.0f);
            p.lhs.insert(p.lhs.end(), p.segment_words, 0x1p-140f);
          }
          for (size_t j = 0; j < n; ++j) {
            const Column& column = columns[(j + m - 1) % columns.size()];
            p.rhs.insert(p.rhs.end(), {column.value, column.underflow});
          }
          ASSERT_TRUE(m > 1 || range.min != 0 || SameFloat(p.Expected(0, 0), -0.0f));
          ExpectExact(GetParam(), p);
        }
      }
    }
  }
}

// The inputs have infinities and NaN in every place; the results must be those of the formula.
TEST_P(FloatProductTest, SpecialValues) {
  constexpr float kSpecial[] = {0.0f,      -0.0f,     0x1p-149f,  -0x1p-126f, 0x1p100f,
                                -0x1p127f, kInfinity, -kInfinity, kNaN};
  for (const FloatRange& range : kRanges) {
    for (bool of_channels : {false, true}) {
      for (size_t n : {size_t{5}, size_t{16}, nr() + 9}) {
        for (size_t steps : {1, 4}) {
          Product p = RandomProduct(random_, of_channels, kFloatPixels, n, 2, steps);
          p.range = range;
          for (std::vector<float>* values : {&p.lhs, &p.rhs, &p.bias}) {
            for (float special : kSpecial) {
              values->at(static_cast<size_t>(random_.Int(0, std::ssize(*values) - 1))) = special;
            }
          }
          ExpectExact(GetParam(), p);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, FloatProductTest,
                         ::testing::ValuesIn(FloatRows().begin(), FloatRows().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FloatTable, NamesSayWhatRowsAre) {
  for (const FloatRow& row : FloatRows()) {
    const std::string name = row.name;
    const std::string end = "x" + std::to_string(row.nr) + "_" + IsaName(row.isa);
    EXPECT_TRUE(name.starts_with("floats_") && name.ends_with(end)) << name;
    EXPECT_EQ(static_cast<size_t>(row.nr) % kFloatLanes, 0u) << name;
    EXPECT_GT(row.macs_per_cycle, 0) << name;
  }
}

TEST(FloatTable, SelectsTheHighestThatCpuAndForcedKernelAllow) {
  CpuFeatures cpu = {};
  for (const FloatRow& row : FloatRows()) {
    cpu.Add(row.isa);
    EXPECT_EQ(SelectFloats(cpu).name, row.name);
    EXPECT_EQ(SelectFloats(AllowedFeatures(cpu, "reference")).isa, Isa::kPortable);
    EXPECT_EQ(SelectFloats(AllowedFeatures(cpu, "bgemm_i32_4x2x64_portable")).isa, Isa::kPortable);
#if defined(__x86_64__)
    EXPECT_LE(SelectFloats(AllowedFeatures(cpu, "bgemm_i32_8x32x32_avx2")).isa, Isa::kAvx2);
#endif
    // No host has functions as slow as those that every CPU runs, and those of ARM were not timed.
    EXPECT_EQ(PrefersFloats(row), row.isa == Isa::kAvx2 || row.isa == Isa::kAvx512bw) << row.name;
  }
}

}  // namespace
}  // namespace larq_engine
