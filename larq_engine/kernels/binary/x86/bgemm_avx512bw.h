// Rows for x86 with AVX-512BW.
#ifndef LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512BW_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_8x64x32Avx512bw(const BgemmArgs& args);

// A row for a single pixel, whose time is that of reading the filters.
void BgemmI32_2x64x32Avx512bw(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512BW_H_
