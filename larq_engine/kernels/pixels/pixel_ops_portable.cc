#include "larq_engine/kernels/pixels/pixel_ops_portable.h"

#include "larq_engine/kernels/pixels/pixel_ops_loops.h"

namespace larq_engine {

constexpr PixelOps kPixelOpsPortable = kPixelOpsLoops;

}  // namespace larq_engine
