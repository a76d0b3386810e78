// Rows for x86 with AVX2.
#ifndef LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX2_H_
#define LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX2_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_8x32x32Avx2(const BgemmArgs& args);

// A row for a single pixel, whose time is that of reading the filters.
void BgemmI32_2x32x32Avx2(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX2_H_
