// Declares the bound of the vector popcount on x86.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx512vpopcntdqMacs = 2 * 12 * 512;

// Counts two words of 12 vectors of outputs in each step.
void RunAvx512vpopcntdq(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_
