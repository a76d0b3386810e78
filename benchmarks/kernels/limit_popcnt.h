// Declares the bound of 64-bit POPCNT on x86.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_POPCNT_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_POPCNT_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kPopcntMacs = 4 * 2 * 64;

// Counts a tile of 4 x 2 words in each step. 6 words, 4 sums and temporaries fit the 16 general
// registers, and 4 independent sums hide the latency of an addition.
void RunPopcnt(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_POPCNT_H_
