// Quantizing what sums and products with constants make of a value, without computing it: each of
// them is monotone, so the sign of the last result flips at one value of the input.
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

// Of each channel, or one for all; see PixelOps::bitpack_float_limits.
struct QuantizeLimits {
  std::vector<float> limits;
  std::vector<uint32_t> signs;
};

// What tells for every float, NaN and infinities included, whether `chain`, computed in float32 one
// operation after the other, makes it smaller than zero. Nothing for constants that
// make a chain anything but monotone (not finite, or products with zero), that a thread's flags may
// turn into zero (products with denormals), or that are not of the same number of channels. At
// least one operation.
std::optional<QuantizeLimits> FindQuantizeLimits(std::span<const ChannelOp> chain);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_QUANTIZE_LIMITS_H_
