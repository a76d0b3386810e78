// Declares the bound of counting bits with AVX2, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx2Macs = 4 * 768;

// Looks up three nibbles of 32 filters for two pixels and adds the counts, for 4 vectors of filters
// in each step. A row also has to empty its bytes, which are full after 63 nibbles, and takes a
// twelfth more than this loop.
void RunAvx2(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
