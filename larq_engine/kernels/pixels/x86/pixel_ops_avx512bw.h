// PixelOps for x86 with AVX-512 F, BW, DQ and VL.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX512BW_H_
#define LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX512BW_H_

#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

extern const PixelOps kPixelOpsAvx512bw;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_X86_PIXEL_OPS_AVX512BW_H_
