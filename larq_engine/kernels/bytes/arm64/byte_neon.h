// The row of bytes for every 64-bit ARM.
#ifndef LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_NEON_H_
#define LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_NEON_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_12x8x8Neon(const ByteArgs& args);
void ExpandNeon(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_NEON_H_
