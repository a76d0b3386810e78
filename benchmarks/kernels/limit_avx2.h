// The bound of counting bits with AVX2, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx2Macs = 4 * 8 * 256;

// Counts 4 vectors of 8 words in each step, through carry-save digits. On a Zen 5, a look-up for
// each 1, 2, 4 and 8 words makes 118, 135, 140 and 144 MACs a cycle.
void RunAvx2(uint64_t steps);

void ReadAvx2(const std::byte* from, size_t bytes);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
