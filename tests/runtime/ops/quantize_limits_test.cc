#include "larq_engine/runtime/ops/quantize_limits.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using testing::Random;
using testing::ReplayHint;
using Chain = std::vector<ChannelOp>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kMin = std::numeric_limits<float>::min();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
constexpr float kSpecial[] = {0.0f,  -0.0f, kDenormal, -kDenormal, kMin,       -kMin, 1.0f,
                              -1.0f, kMax,  -kMax,     kInfinity,  -kInfinity, kNan,  -kNan};

ChannelOp Add(std::vector<float> constants) {
  return {.kind = ChannelOp::kAdd, .constants = std::move(constants)};
}
ChannelOp Multiply(std::vector<float> constants) {
  return {.kind = ChannelOp::kMultiply, .constants = std::move(constants)};
}

std::optional<QuantizeLimits> Find(const Chain& chain) { return FindQuantizeLimits(chain); }

// Computes the steps, and rounds each result to a float.
bool IsNegative(const Chain& chain, size_t channel, float x) {
  for (const ChannelOp& op : chain) {
    const volatile float constant = op.constants[channel];
    const volatile float y = op.kind == ChannelOp::kAdd ? x + constant : x * constant;
    x = y;
  }
  return x < 0;
}

bool IsBelow(const QuantizeLimits& found, size_t channel, float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x) ^ found.signs[channel];
  return std::bit_cast<float>(bits) < found.limits[channel];
}

void ExpectSame(const Chain& chain, const QuantizeLimits& found, size_t channel, float x) {
  ASSERT_EQ(IsBelow(found, channel, x), IsNegative(chain, channel, x))
      << x << " (bits " << std::bit_cast<uint32_t>(x) << "), channel " << channel << ", limit "
      << found.limits[channel];
}

// Returns ordinary constants, and sometimes one that overflows, underflows, or loses the other
// operand.
float AnyConstant(Random& random, ChannelOp::Kind kind) {
  constexpr float kFactors[] = {1.0f, -1.0f, kMin, -kMin, kMax, -kMax};
  constexpr float kSummands[] = {0.0f, -0.0f, kDenormal, -kDenormal, 1e30f, -kMax};
  const auto pick = static_cast<size_t>(random.Int(0, 23));
  if (pick < std::size(kFactors)) {
    return kind == ChannelOp::kMultiply ? kFactors[pick] : kSummands[pick];
  }
  const float constant = random.Float(-3.0f, 3.0f);
  return constant == 0 ? 1.0f : constant;
}

Chain AnyChain(Random& random, size_t channels) {
  Chain chain(static_cast<size_t>(random.Int(1, 4)));
  for (ChannelOp& op : chain) {
    op.kind = random.Int(0, 1) ? ChannelOp::kAdd : ChannelOp::kMultiply;
    for (size_t c = 0; c < channels; ++c) op.constants.push_back(AnyConstant(random, op.kind));
  }
  return chain;
}

TEST(QuantizeLimits, TellTheSignOfWhatTheChainMakesOfAnyFloat) {
  SCOPED_TRACE(ReplayHint());
  Random random;
  for (int turn = 0; turn < 1000; ++turn) {
    constexpr size_t kChannels = 5;
    const Chain chain = AnyChain(random, kChannels);
    const std::optional<QuantizeLimits> found = Find(chain);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->limits.size(), kChannels);
    ASSERT_EQ(found->signs.size(), kChannels);
    for (size_t c = 0; c < kChannels; ++c) {
      // The values are those where the sign flips, those one float beside, and those where it would
      // flip without rounding.
      const float limit =
          std::bit_cast<float>(std::bit_cast<uint32_t>(found->limits[c]) ^ found->signs[c]);
      std::vector<float> values = {limit, std::nextafter(limit, kInfinity),
                                   std::nextafter(limit, -kInfinity)};
      values.insert(values.end(), std::begin(kSpecial), std::end(kSpecial));
      for (int i = 0; i < 20; ++i) {
        values.push_back(random.Float(-5.0f, 5.0f));
        values.push_back(std::bit_cast<float>(random.Word()));
        values.push_back(limit * random.Float(0.999999f, 1.000001f));
      }
      for (float x : values) {
        ExpectSame(chain, *found, c, x);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(QuantizeLimits, OfOneSumAndOneProduct) {
  const auto sum = Find({Add({2.5f, -2.5f, 0.0f})});
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->limits, (std::vector<float>{-2.5f, 2.5f, 0.0f}));
  EXPECT_EQ(sum->signs, (std::vector<uint32_t>{0, 0, 0}));
  const auto product = Find({Multiply({2.0f, -2.0f})});
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->limits, (std::vector<float>{0.0f, 0.0f}));
  EXPECT_EQ(product->signs, (std::vector<uint32_t>{0, 0x80000000}));
}

TEST(QuantizeLimits, TwoNegativeFactorsTurnNothing) {
  const auto found = Find({Multiply({-2.0f}), Add({1.0f}), Multiply({-1.0f})});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->signs[0], 0u);
  EXPECT_EQ(found->limits[0], 0.5f);
}

TEST(QuantizeLimits, AreRoundedAsTheChainIs) {
  // A product that underflows is not smaller than zero. A sum that loses the value keeps its sign.
  const auto underflow = Find({Multiply({kMin})});
  ASSERT_TRUE(underflow.has_value());
  EXPECT_LT(underflow->limits[0], -1e-8f);
  const auto lost = Find({Add({1e30f}), Add({-1e30f})});
  ASSERT_TRUE(lost.has_value());
  EXPECT_LT(lost->limits[0], -1e22f);
}

TEST(QuantizeLimits, NoneForOperationsThatAreNotMonotone) {
  const Chain good = {Multiply({1.5f, -2.0f}), Add({0.5f, 0.0f})};
  ASSERT_TRUE(Find(good).has_value());
  for (float bad : {0.0f, -0.0f, kDenormal, -kDenormal, kInfinity, -kInfinity, kNan}) {
    for (size_t channel : {0, 1}) {
      Chain chain = good;
      chain[0].constants[channel] = bad;
      EXPECT_FALSE(Find(chain).has_value()) << bad;
    }
  }
  for (float bad : {kInfinity, -kInfinity, kNan}) {
    for (size_t channel : {0, 1}) {
      Chain chain = good;
      chain[1].constants[channel] = bad;
      EXPECT_FALSE(Find(chain).has_value()) << bad;
    }
  }
}

TEST(QuantizeLimits, NoneForOperationsOfDifferentChannels) {
  EXPECT_FALSE(Find({Multiply({1.0f, 2.0f, 3.0f}), Add({1.0f, 2.0f})}).has_value());
  EXPECT_FALSE(Find({Multiply({1.0f, 2.0f}), Add({1.0f, 2.0f, 3.0f})}).has_value());
}

TEST(QuantizeLimits, OneConstantIsForAllChannels) {
  const auto found = Find({Multiply({2.0f, -4.0f}), Add({8.0f})});
  ASSERT_TRUE(found.has_value());
  const Chain spelt_out = {Multiply({2.0f, -4.0f}), Add({8.0f, 8.0f})};
  for (size_t channel : {0, 1}) {
    for (float x : {-5.0f, -4.0f, -3.9f, 0.0f, 1.9f, 2.0f, 2.1f}) {
      ExpectSame(spelt_out, *found, channel, x);
    }
  }
  const auto single = Find({Multiply({2.0f}), Add({8.0f})});
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(single->limits, std::vector<float>{-4.0f});
}

}  // namespace
}  // namespace larq_engine
