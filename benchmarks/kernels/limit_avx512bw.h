// The bound of counting bits with AVX-512BW, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx512bwMacs = 4 * 8 * 512;

// Counts 4 vectors of 8 words in each step, through carry-save digits. On a Zen 5, a look-up for
// each 1, 2, 4 and 8 words makes 239, 337, 417 and 477 MACs a cycle.
void RunAvx512bw(uint64_t steps);

void ReadAvx512bw(const std::byte* from, size_t bytes);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
