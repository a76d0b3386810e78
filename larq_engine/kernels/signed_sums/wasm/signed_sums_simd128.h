// The row for WebAssembly with vectors.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_WASM_SIGNED_SUMS_SIMD128_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_WASM_SIGNED_SUMS_SIMD128_H_

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

extern const SignedSums kSignedSumsSimd128;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_WASM_SIGNED_SUMS_SIMD128_H_
