// The bound of the vector popcount on x86.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx512vpopcntdqMacs = 8 * 2 * 512;

// Counts a tile of 8 x 2 vectors in each step: 16 independent sums hide the latencies.
void RunAvx512vpopcntdq(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512VPOPCNTDQ_H_
