#include "larq_engine/kernels/pixels/table.h"

#include "larq_engine/kernels/pixels/pixel_ops_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/pixels/arm64/pixel_ops_neon.h"
#endif
#if defined(__wasm_simd128__)
#include "larq_engine/kernels/pixels/wasm/pixel_ops_simd128.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx2.h"
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx512bw.h"
#endif

namespace larq_engine {
namespace {

constexpr PixelOpsRow kPixelOpsRows[] = {
    {.isa = Isa::kPortable, .ops = &kPixelOpsPortable},
#if defined(__aarch64__)
    {.isa = Isa::kNeon, .ops = &kPixelOpsNeon},
#endif
#if defined(__wasm_simd128__)
    {.isa = Isa::kSimd128, .ops = &kPixelOpsSimd128},
#endif
#if defined(__x86_64__)
    {.isa = Isa::kAvx2, .ops = &kPixelOpsAvx2},
    {.isa = Isa::kAvx512bw, .ops = &kPixelOpsAvx512bw},
#endif
};

}  // namespace

std::span<const PixelOpsRow> PixelOpsRows() { return kPixelOpsRows; }

}  // namespace larq_engine
