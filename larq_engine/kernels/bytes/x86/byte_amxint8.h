// The row of bytes for x86 with AMX, which has whole matrices as tiles.
#ifndef LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AMXINT8_H_
#define LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AMXINT8_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_32x16x64Amxint8(const ByteArgs& args);
void ExpandAmxint8(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_X86_BYTE_AMXINT8_H_
