// Tests signed sums over every row of the table, against sums written from the contract. A row that
// this CPU lacks is listed as skipped.
#include "larq_engine/kernels/signed_sums/signed_sums.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/signed_dense_output.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/signed_sums/select.h"
#include "larq_engine/kernels/signed_sums/table.h"
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

class SignedSumsTest : public testing::RowTest<SignedSumsRow> {
 protected:
  const SignedSums& row() const { return *GetParam().sums; }
};

struct Shape {
  size_t blocks;
  size_t words;
};

// Returns numbers of blocks around those that rows take at once, and numbers of words around those
// that fit sums of 16 bits.
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {{1, 128}, {3, 63}};
  for (size_t blocks = 1; blocks <= 19; ++blocks) {
    for (size_t words : {1, 2, 3}) shapes.push_back({blocks, words});
  }
  for (size_t words : {14, 15, 16, 17, 29, 30, 31, 32, 33, 34}) shapes.push_back({5, words});
  return shapes;
}

bool IsMinus(const std::vector<uint32_t>& signs, const Shape& shape, size_t output, size_t input,
             size_t (*sign_bit)(size_t, size_t)) {
  const size_t first = (output / kSignedLanes * shape.words + input / 32) * kSignedLanes;
  const size_t bit = sign_bit(output % kSignedLanes, input % 32);
  return signs[first + bit / 32] >> bit % 32 & 1;
}

// Returns the row's sums of values that end, or begin, at a page.
std::vector<int32_t> RunRow(const SignedSums& row, const Shape& shape,
                            const std::vector<uint32_t>& signs, const std::vector<int8_t>& inputs,
                            Guard guard) {
  const GuardedBuffer<uint32_t> signs_in{std::span(signs), guard};
  const GuardedBuffer<int8_t> in{std::span(inputs), guard};
  GuardedBuffer<Int8Tables> tables(shape.words, guard);
  GuardedBuffer<int32_t> out(shape.blocks * kSignedLanes, guard);
  row.of_int8({.blocks = shape.blocks,
               .words = shape.words,
               .signs = signs_in.data(),
               .tables = tables.data(),
               .base = row.make_tables(in.data(), shape.words, tables.data()),
               .sums = out.data()});
  return {out.data(), out.data() + out.size()};
}

std::vector<float> RunRow(const SignedSums& row, const Shape& shape,
                          const std::vector<uint32_t>& signs, const std::vector<float>& inputs,
                          Guard guard) {
  const GuardedBuffer<uint32_t> signs_in{std::span(signs), guard};
  const GuardedBuffer<float> in{std::span(inputs), guard};
  GuardedBuffer<float> out(shape.blocks * kSignedLanes, guard);
  row.of_float({.blocks = shape.blocks,
                .words = shape.words,
                .signs = signs_in.data(),
                .inputs = in.data(),
                .sums = out.data()});
  return {out.data(), out.data() + out.size()};
}

TEST_P(SignedSumsTest, OfInt8) {
  for (const Shape& shape : Shapes()) {
    const std::vector<uint32_t> signs = random_.Words(shape.blocks * shape.words * kSignedLanes);
    std::vector<int8_t> inputs(shape.words * 32);
    for (int8_t& value : inputs) value = static_cast<int8_t>(random_.Word());
    std::vector<int32_t> expected;
    for (size_t output = 0; output < shape.blocks * kSignedLanes; ++output) {
      int32_t sum = 0;
      for (size_t i = 0; i < inputs.size(); ++i) {
        sum += IsMinus(signs, shape, output, i, Int8SignBit) ? -inputs[i] : inputs[i];
      }
      expected.push_back(sum);
    }
    for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
      ASSERT_EQ(RunRow(row(), shape, signs, inputs, guard), expected)
          << shape.blocks << " blocks of " << shape.words << " words";
    }
  }
}

TEST_P(SignedSumsTest, TablesHaveTheSumsOfFourInputs) {
  for (size_t words : {1, 2, 7}) {
    std::vector<int8_t> inputs(words * 32);
    for (int8_t& value : inputs) value = static_cast<int8_t>(random_.Word());
    std::fill_n(inputs.begin(), 8, int8_t{-128});
    std::fill_n(inputs.begin() + 8, 8, int8_t{127});
    for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
      const GuardedBuffer<int8_t> in{std::span(inputs), guard};
      GuardedBuffer<Int8Tables> tables(words, guard);
      row().make_tables(in.data(), words, tables.data());
      for (size_t i = 0; i < inputs.size(); i += 4) {
        for (size_t e = 0; e < 16; ++e) {
          int sum = kInt8TableOffset;
          for (size_t bit = 0; bit < 4; ++bit) sum += (e >> bit & 1) != 0 ? inputs[i + bit] : 0;
          const size_t half = i / 4 % 2, at = i % 32 / 8 * 16 + e;
          ASSERT_EQ(tables.data()[i / 32].low[half][at], sum % 32);
          ASSERT_EQ(tables.data()[i / 32].high[half][at], sum / 32);
        }
      }
    }
  }
}

// The sums are the largest of either sign, up to the largest depth.
TEST_P(SignedSumsTest, OfInt8DoNotOverflow) {
  for (size_t words : {size_t{1}, size_t{7}, size_t{64}, kMaxSignedDepth / 32}) {
    for (int value : {-128, 127}) {
      for (uint32_t word : {0u, ~0u, 0x0f0f0f0fu, 0x88888888u}) {
        const Shape shape{.blocks = 5, .words = words};
        const std::vector<uint32_t> signs(shape.blocks * words * kSignedLanes, word);
        const std::vector<int8_t> inputs(words * 32, static_cast<int8_t>(value));
        const int32_t plus = 32 - 2 * std::popcount(word);
        const std::vector<int32_t> expected(shape.blocks * kSignedLanes,
                                            value * plus * static_cast<int32_t>(words));
        ASSERT_EQ(RunRow(row(), shape, signs, inputs, Guard::kAfter), expected);
      }
    }
  }
}

TEST_P(SignedSumsTest, OfFloat) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-126f, 0x1p100f, kInfinity};
  for (const Shape& shape : Shapes()) {
    for (bool is_special : {false, true}) {
      const std::vector<uint32_t> signs = random_.Words(shape.blocks * shape.words * kSignedLanes);
      std::vector<float> inputs(shape.words * 32);
      for (float& value : inputs) value = random_.Float(-2, 2);
      if (is_special) {
        for (float special : kSpecial) {
          inputs[static_cast<size_t>(random_.Int(0, std::ssize(inputs) - 1))] = special;
        }
      }
      std::vector<float> expected;
      for (size_t output = 0; output < shape.blocks * kSignedLanes; ++output) {
        const auto with_sign = [&](size_t i) {
          return IsMinus(signs, shape, output, i, FloatSignBit) ? -inputs[i] : inputs[i];
        };
        float sum = 0;
        for (size_t i = 0; i < inputs.size(); i += 4) {
          sum += with_sign(i) + with_sign(i + 1) + with_sign(i + 2) + with_sign(i + 3);
        }
        expected.push_back(sum);
      }
      for (Guard guard : {Guard::kBefore, Guard::kAfter}) {
        const std::vector<float> got = RunRow(row(), shape, signs, inputs, guard);
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_TRUE(SameFloat(got[i], expected[i]))
              << got[i] << " instead of " << expected[i] << " at output " << i << " of "
              << shape.blocks << " blocks of " << shape.words << " words";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SignedSumsTest, ::testing::ValuesIn(SignedSumsRows()),
                         [](const auto& info) { return std::string(IsaName(info.param.isa)); });

TEST(SignedSumsTable, SelectsTheHighestThatCpuAndForcedKernelAllow) {
  CpuFeatures cpu = {};
  for (const SignedSumsRow& row : SignedSumsRows()) {
    cpu.Add(row.isa);
    EXPECT_EQ(SelectSignedSums(cpu).name, row.name);
    EXPECT_EQ(row.name, std::string("signed_sums_") + IsaName(row.isa));
    EXPECT_EQ(SelectSignedSums(AllowedFeatures(cpu, "reference")).isa, Isa::kPortable);
    EXPECT_EQ(SelectSignedSums(AllowedFeatures(cpu, "bgemm_i32_4x2x64_portable")).isa,
              Isa::kPortable);
  }
}

}  // namespace
}  // namespace larq_engine
