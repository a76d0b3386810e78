// Declares the bound of counting bits with AVX-512BW, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx512bwMacs = 4 * 1536;

// Looks up three nibbles of 64 filters for two pixels and adds the counts, for 4 vectors of filters
// in each step. A row also has to empty its bytes, which are full after 63 nibbles, and takes a
// twelfth more than this loop.
void RunAvx512bw(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
