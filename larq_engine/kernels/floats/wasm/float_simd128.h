// The row of table.cc for WebAssembly with vectors.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_WASM_FLOAT_SIMD128_H_
#define LARQ_ENGINE_KERNELS_FLOATS_WASM_FLOAT_SIMD128_H_

#include "larq_engine/kernels/floats/float_product.h"

namespace larq_engine {

void FloatPixels16Simd128(const FloatArgs& args);
void FloatChannelsSimd128(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_WASM_FLOAT_SIMD128_H_
