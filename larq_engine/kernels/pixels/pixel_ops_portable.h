#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_PORTABLE_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_PORTABLE_H_

#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

extern const PixelOps kPixelOpsPortable;

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_PORTABLE_H_
