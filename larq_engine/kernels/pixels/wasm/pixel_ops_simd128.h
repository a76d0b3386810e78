// The row for WebAssembly with vectors.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_WASM_PIXEL_OPS_SIMD128_H_
#define LARQ_ENGINE_KERNELS_PIXELS_WASM_PIXEL_OPS_SIMD128_H_

#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

extern const PixelOps kPixelOpsSimd128;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_WASM_PIXEL_OPS_SIMD128_H_
