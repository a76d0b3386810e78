#ifndef LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_
#define LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_

#include <cmath>
#include <cstdint>

namespace larq_engine::testing {

// Tells whether two floats are equal to the bit; a NaN may have any sign and payload.
inline bool SameFloat(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         __builtin_bit_cast(uint32_t, a) == __builtin_bit_cast(uint32_t, b);
}

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_
