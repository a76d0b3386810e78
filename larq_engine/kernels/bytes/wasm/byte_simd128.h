// The row of bytes for WebAssembly with vectors.
#ifndef LARQ_ENGINE_KERNELS_BYTES_WASM_BYTE_SIMD128_H_
#define LARQ_ENGINE_KERNELS_BYTES_WASM_BYTE_SIMD128_H_

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {

void BytesI32_4x4x4Simd128(const ByteArgs& args);
void ExpandSimd128(const ExpandArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_WASM_BYTE_SIMD128_H_
