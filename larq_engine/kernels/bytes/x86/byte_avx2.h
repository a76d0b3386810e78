// The row of bytes for x86 with AVX2.
#ifndef LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX2_H_
#define LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX2_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_4x16x4Avx2(const ByteArgs& args);
void BytesI32_4x8x4Avx2(const ByteArgs& args);
void ExpandAvx2(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX2_H_
