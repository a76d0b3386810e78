// The row of bytes for x86 with AVX-512 and its VNNI extension.
#ifndef LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX512VNNI_H_
#define LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX512VNNI_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_12x32x4Avx512vnni(const ByteArgs& args);
void ExpandAvx512vnni(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AVX512VNNI_H_
