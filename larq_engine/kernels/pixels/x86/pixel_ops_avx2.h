// PixelOps for x86 with AVX2.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX2_H_
#define LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX2_H_

#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

extern const PixelOps kPixelOpsAvx2;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX2_H_
