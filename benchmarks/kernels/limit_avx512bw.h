// The bounds of counting bits with AVX-512BW, which has no instruction for it.
#ifndef LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
#define LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_

#include <cstdint>

namespace larq_engine::benchmarks {

inline constexpr uint64_t kAvx512bwMacsPerWord = 2 * 512;  // a step is two vectors

void RunAvx512bwLookUp(uint64_t steps);      // every word is counted
void RunAvx512bwCarrySave2(uint64_t steps);  // one count for 2 words
void RunAvx512bwCarrySave4(uint64_t steps);
void RunAvx512bwCarrySave8(uint64_t steps);

}  // namespace larq_engine::benchmarks

#endif  // LARQ_ENGINE_BENCHMARKS_KERNELS_LIMIT_AVX512BW_H_
