// PixelOps for every 64-bit ARM.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_ARM64_PIXEL_OPS_NEON_H_
#define LARQ_ENGINE_KERNELS_PIXELS_ARM64_PIXEL_OPS_NEON_H_

#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

extern const PixelOps kPixelOpsNeon;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_ARM64_PIXEL_OPS_NEON_H_
