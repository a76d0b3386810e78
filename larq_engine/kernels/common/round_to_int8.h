// The rounding of int8_output.h, in loops that a compiler vectorises. The functions are internal to
// the including file.
#ifndef LARQ_ENGINE_KERNELS_COMMON_ROUND_TO_INT8_H_
#define LARQ_ENGINE_KERNELS_COMMON_ROUND_TO_INT8_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/float_range.h"

namespace larq_engine {
namespace {

// Adding this number, 1.5 * 2^23, leaves whole numbers of up to 22 bits in the low bits of the sum.
inline constexpr float kRounding = 12582912;

// `range` has whole numbers, so clamping before rounding gives the same result as after it.
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

#endif  // LARQ_ENGINE_KERNELS_COMMON_ROUND_TO_INT8_H_
