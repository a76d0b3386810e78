// Chooses the functions on pixels.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_SELECT_H_
#define LARQ_ENGINE_KERNELS_PIXELS_SELECT_H_

#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// Returns the highest row that the CPU has.
const PixelOps& SelectPixelOps(CpuFeatures cpu);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_SELECT_H_
