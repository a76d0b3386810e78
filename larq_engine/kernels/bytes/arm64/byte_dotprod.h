// The row of bytes for 64-bit ARM with SDOT (Armv8.2).
#ifndef LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_DOTPROD_H_
#define LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_DOTPROD_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_12x16x4Dotprod(const ByteArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_DOTPROD_H_
