// The row of table.cc for WebAssembly with vectors.
#ifndef LARQ_ENGINE_KERNELS_BINARY_WASM_BGEMM_SIMD128_H_
#define LARQ_ENGINE_KERNELS_BINARY_WASM_BGEMM_SIMD128_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {

void BgemmI32_8x16x32Simd128(const BgemmArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_WASM_BGEMM_SIMD128_H_
