#include "larq_engine/kernels/pixels/table.h"

#include "larq_engine/kernels/pixels/pixel_ops_portable.h"
#if defined(__aarch64__)
#include "larq_engine/kernels/pixels/arm64/pixel_ops_neon.h"
#endif
#if defined(__x86_64__)
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx2.h"
#include "larq_engine/kernels/pixels/x86/pixel_ops_avx512bw.h"
#endif

namespace larq_engine {
namespace {

constexpr PixelOpsRow kPixelOpsRows[] = {
    {Isa::kPortable, &kPixelOpsPortable},
#if defined(__aarch64__)
    {Isa::kNeon, &kPixelOpsNeon},
#endif
#if defined(__x86_64__)
    {Isa::kAvx2, &kPixelOpsAvx2},
    {Isa::kAvx512bw, &kPixelOpsAvx512bw},
#endif
};

}  // namespace

std::span<const PixelOpsRow> PixelOpsRows() { return kPixelOpsRows; }

}  // namespace larq_engine
