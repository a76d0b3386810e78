#include "larq_engine/runtime/ops/quantize_limits.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace larq_engine {
namespace {

using Chain = std::span<const ChannelOp>;

constexpr uint32_t kSignBit = 0x80000000;

// Returns the number of channels with constants of their own; 1 if all channels share them.
size_t CountChannels(Chain chain) {
  size_t channels = 1;
  for (const ChannelOp& op : chain) channels = std::max(channels, op.constants.size());
  return channels;
}

bool IsMonotone(Chain chain, size_t channels) {
  return std::all_of(chain.begin(), chain.end(), [&](const ChannelOp& op) {
    return (op.constants.size() == channels || op.constants.size() == 1) &&
           std::all_of(op.constants.begin(), op.constants.end(), [&](float constant) {
             return op.kind == ChannelOp::kAdd ? std::isfinite(constant) : std::isnormal(constant);
           });
  });
}

float ConstantOf(const ChannelOp& op, size_t channel) {
  return op.constants[op.constants.size() == 1 ? 0 : channel];
}

float Evaluate(Chain chain, size_t channel, float x) {
  for (const ChannelOp& op : chain) {
    const float constant = ConstantOf(op, channel);
    x = op.kind == ChannelOp::kAdd ? x + constant : x * constant;
  }
  return x;
}

// Returns the sign bit if the result falls as the value rises, else 0.
uint32_t FallingSign(Chain chain, size_t channel) {
  uint32_t sign = 0;
  for (const ChannelOp& op : chain) {
    if (op.kind == ChannelOp::kMultiply && ConstantOf(op, channel) < 0) sign ^= kSignBit;
  }
  return sign;
}

// Maps all floats but NaN to whole numbers in the same order: -0.0 is -1, 0.0 is 0.
int64_t ToOrdinal(float x) {
  const auto bits = __builtin_bit_cast(uint32_t, x);
  return (bits & kSignBit) != 0 ? -1 - static_cast<int64_t>(bits ^ kSignBit) : int64_t{bits};
}
float FromOrdinal(int64_t ordinal) {
  return __builtin_bit_cast(float, ordinal < 0 ? static_cast<uint32_t>(-1 - ordinal) ^ kSignBit
                                               : static_cast<uint32_t>(ordinal));
}

// Finds the least x for which the result of x, with its sign turned by `sign`, is not smaller than
// zero. The values are tried, because a limit that is computed backwards would be rounded
// differently than the chain.
float FindLimit(Chain chain, size_t channel, uint32_t sign) {
  // Infinities are beyond any limit, because finite constants leave them infinite.
  int64_t below = ToOrdinal(-INFINITY);
  int64_t limit = ToOrdinal(INFINITY);
  while (limit - below > 1) {
    const int64_t middle = below + (limit - below) / 2;
    const float x =
        __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, FromOrdinal(middle)) ^ sign);
    (Evaluate(chain, channel, x) < 0 ? below : limit) = middle;
  }
  return FromOrdinal(limit);
}

}  // namespace

std::optional<QuantizeLimits> FindQuantizeLimits(Chain chain) {
  const size_t channels = CountChannels(chain);
  if (!IsMonotone(chain, channels)) return std::nullopt;
  QuantizeLimits found;
  for (size_t channel = 0; channel < channels; ++channel) {
    const uint32_t sign = FallingSign(chain, channel);
    found.signs.push_back(sign);
    found.limits.push_back(FindLimit(chain, channel, sign));
  }
  return found;
}

}  // namespace larq_engine
