// Limits that quantize a value as if it went through sums and products with constants, which need
// not be computed: each of them is monotone, so the sign of the last result flips at one value of
// the input.
#ifndef LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_LIMITS_H_
#define LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_LIMITS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace larq_engine {

// A sum or product with a constant for each channel, or one for all.
struct ChannelOp {
  enum Kind : uint8_t { kAdd, kMultiply };
  Kind kind;
  std::vector<float> constants;
};

// Limits for each channel, or one for all; see PixelOps::bitpack_float_limits.
struct QuantizeLimits {
  std::vector<float> limits;
  std::vector<uint32_t> signs;
};

// Finds the limits that tell for every float, NaN and infinities included, whether `chain`,
// computed in float32 one operation after the other, makes it smaller than zero. Returns nothing if
// constants make the chain other than monotone (not finite, or products with zero), if a thread's
// flags may turn them into zero (products with denormals), or if they have different numbers of
// channels. The chain has at least one operation.
std::optional<QuantizeLimits> FindQuantizeLimits(std::span<const ChannelOp> chain);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_LIMITS_H_
