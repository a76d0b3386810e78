// Rows for x86 with AVX-512 and its VPOPCNTDQ extension.
#ifndef LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512VPOPCNTDQ_H_
#define LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512VPOPCNTDQ_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_6x32x32Avx512vpopcntdq(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_AVX512VPOPCNTDQ_H_
