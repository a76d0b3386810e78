// The bounds of counting bits with AVX2, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx2MacsPerWord = 2 * 256;  // a step is two vectors

void RunAvx2LookUp(uint64_t steps);      // every word is counted
void RunAvx2CarrySave2(uint64_t steps);  // one count for 2 words
void RunAvx2CarrySave4(uint64_t steps);
void RunAvx2CarrySave8(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX2_H_
