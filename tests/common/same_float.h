#ifndef LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_
#define LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace larq_engine::testing {

// Tells whether two floats are equal to the bit; a NaN may have any sign and payload.
inline bool SameFloat(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_SAME_FLOAT_H_
