// The rounding of int8_output.h, in loops that a compiler makes vectors of. Functions are internal
// to the including file.
#ifndef LARQ_ENGINE_KERNELS_ROUND_TO_INT8_H_
#define LARQ_ENGINE_KERNELS_ROUND_TO_INT8_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/float_range.h"

namespace larq_engine {
namespace {

// Whole numbers of up to 22 bits are the low bits of their sum with this, 1.5 * 2^23.
inline constexpr float kRounding = 12582912;

// `range` is of whole numbers, so that to clamp before rounding gives the same as after.
inline int8_t RoundToInt8(float value, FloatRange range, int32_t zero_point) {
  value = Clamp(value, range);
  const int32_t bits = __builtin_bit_cast(int32_t, value + kRounding);
  return static_cast<int8_t>(bits - __builtin_bit_cast(int32_t, kRounding) + zero_point);
}

inline void RoundSums(const int32_t* __restrict sums, const float* __restrict multipliers,
                      size_t count, FloatRange range, int32_t zero_point, int8_t* __restrict out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = RoundToInt8(static_cast<float>(sums[i]) * multipliers[i], range, zero_point);
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ROUND_TO_INT8_H_
