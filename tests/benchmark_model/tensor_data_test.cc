#include "larq_engine/benchmark_model/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

template <typename Number>
std::vector<Number> Draw(LiteRtElementType type, uint64_t seed = 0) {
  std::vector<Number> numbers(4096);
  FillRandom(type, seed,
             {reinterpret_cast<uint8_t*>(numbers.data()), numbers.size() * sizeof(Number)});
  return numbers;
}

template <typename Number>
Difference CompareAs(LiteRtElementType type, std::vector<Number> got, std::vector<Number> expected,
                     double tolerance) {
  const auto bytes = [](const std::vector<Number>& numbers) {
    return std::span(reinterpret_cast<const uint8_t*>(numbers.data()),
                     numbers.size() * sizeof(Number));
  };
  return Compare(type, bytes(got), bytes(expected), tolerance);
}

TEST(RandomData, FloatsAreBoundedAndSpread) {
  const std::vector<float> floats = Draw<float>(kLiteRtElementTypeFloat32);
  const auto [least, most] = std::minmax_element(floats.begin(), floats.end());
  EXPECT_GE(*least, -1);
  EXPECT_LT(*most, 1);
  EXPECT_LT(*least, -0.99);
  EXPECT_GT(*most, 0.99);
}

// Recorded outputs are compared on another machine, so data must be the same on every one.
// SplitMix64 begins with 0xE220A8397B1DCDAF.
TEST(RandomData, IsTheSameEverywhere) {
  EXPECT_EQ(Draw<float>(kLiteRtElementTypeFloat32)[0], 0x6220A8p-23f);
  EXPECT_EQ(Draw<uint8_t>(kLiteRtElementTypeUInt8)[0], 226);
  EXPECT_NE(Draw<uint8_t>(kLiteRtElementTypeUInt8, 1), Draw<uint8_t>(kLiteRtElementTypeUInt8, 0));
}

TEST(RandomData, IntegersAreInRange) {
  const std::vector<int8_t> bytes = Draw<int8_t>(kLiteRtElementTypeInt8);
  EXPECT_EQ(std::set<int8_t>(bytes.begin(), bytes.end()).size(), 256u);
  const std::vector<int64_t> wide = Draw<int64_t>(kLiteRtElementTypeInt64);
  EXPECT_EQ(std::set<int64_t>(wide.begin(), wide.end()), (std::set<int64_t>{0, 1}));
  const std::vector<uint8_t> bools = Draw<uint8_t>(kLiteRtElementTypeBool);
  EXPECT_EQ(std::set<uint8_t>(bools.begin(), bools.end()), (std::set<uint8_t>{0, 1}));
}

TEST(RandomData, HalvesAreFiniteAndOfBothSigns) {
  int negative = 0;
  for (const uint16_t half : Draw<uint16_t>(kLiteRtElementTypeFloat16)) {
    EXPECT_EQ(half >> 10 & 31, 14);  // 0.5 to 1
    negative += half >> 15;
  }
  EXPECT_GT(negative, 1000);
  EXPECT_LT(negative, 3096);
}

TEST(Compare, EqualBitsNeverDiffer) {
  const std::vector<float> values = {0, NAN, INFINITY, 1};
  const Difference none = CompareAs(kLiteRtElementTypeFloat32, values, values, 0);
  EXPECT_EQ(none.values, 0u);
  EXPECT_EQ(none.largest, 0);
}

TEST(Compare, ToTheBitAndWithinATolerance) {
  const std::vector<float> got = {1, 2, 3.5, 4};
  const std::vector<float> expected = {1, 2.25, 3, 4};
  const Difference exact = CompareAs(kLiteRtElementTypeFloat32, got, expected, 0);
  EXPECT_EQ(exact.values, 2u);
  EXPECT_EQ(exact.first, 1u);
  EXPECT_EQ(exact.largest, 0.5);
  EXPECT_EQ(CompareAs(kLiteRtElementTypeFloat32, got, expected, 0.25).values, 1u);
  EXPECT_EQ(CompareAs(kLiteRtElementTypeFloat32, got, expected, 0.5).values, 0u);
}

TEST(Compare, SignsOfZeroAndWhatIsNoNumber) {
  const std::vector<float> zero = {0.0f};
  EXPECT_EQ(CompareAs(kLiteRtElementTypeFloat32, {-0.0f}, zero, 0).values, 1u);
  EXPECT_EQ(CompareAs(kLiteRtElementTypeFloat32, {-0.0f}, zero, 1e-9).values, 0u);
  const Difference nan = CompareAs(kLiteRtElementTypeFloat32, {NAN}, zero, 1e9);
  EXPECT_EQ(nan.values, 1u);
  EXPECT_TRUE(std::isinf(nan.largest));
}

TEST(Compare, OtherTypes) {
  EXPECT_EQ(CompareAs<int8_t>(kLiteRtElementTypeInt8, {-128}, {127}, 0).largest, 255);
  EXPECT_EQ(CompareAs<int64_t>(kLiteRtElementTypeInt64, {-1}, {1}, 2).values, 0u);
  // The halves are 1, 1.5, the smallest half, and infinity against the largest.
  const Difference halves =
      CompareAs<uint16_t>(kLiteRtElementTypeFloat16, {0x3C00, 0x0001}, {0x3E00, 0x0000}, 0);
  EXPECT_EQ(halves.values, 2u);
  EXPECT_EQ(halves.largest, 0.5);
  EXPECT_TRUE(
      std::isinf(CompareAs<uint16_t>(kLiteRtElementTypeFloat16, {0x7C00}, {0x7BFF}, 1).largest));
}

TEST(ElementTypes, SizesAndNames) {
  EXPECT_EQ(ElementSize(kLiteRtElementTypeFloat16), 2u);
  EXPECT_EQ(ElementSize(kLiteRtElementTypeInt64), 8u);
  EXPECT_EQ(ElementSize(static_cast<LiteRtElementType>(5)), 0u);  // strings
  EXPECT_EQ(ElementName(kLiteRtElementTypeFloat32), "float32");
  EXPECT_EQ(ElementName(static_cast<LiteRtElementType>(5)), "type 5");
}

}  // namespace
}  // namespace larq_engine
