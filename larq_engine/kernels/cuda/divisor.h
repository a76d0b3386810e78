// Divisors that the host knows. Kernels divide by them with a product and a shift (divide.h), as a
// GPU has no instruction that divides integers. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DIVISOR_H_
#define LARQ_ENGINE_KERNELS_CUDA_DIVISOR_H_

#include <bit>
#include <cstdint>

namespace larq_engine::cuda {

struct Divisor {
  int32_t value;
  // 2^(31 + shift) / value, rounded up, where 2^shift is the smallest power of two that is not
  // smaller than the value. The relative error is less than value / 2^(31 + shift), at most 1 /
  // 2^31. So the product with a number below 2^31 is never large enough to reach the next
  // quotient.
  uint32_t multiplier;
  uint32_t shift;
};

// Returns the divisor for `value`, which is at least 1.
constexpr Divisor MakeDivisor(int32_t value) {
  const auto divisor = static_cast<uint32_t>(value);
  const auto shift = static_cast<uint32_t>(std::bit_width(divisor - 1));
  const uint64_t power = uint64_t{1} << (31 + shift);
  return {value, static_cast<uint32_t>((power + divisor - 1) / divisor), shift};
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DIVISOR_H_
