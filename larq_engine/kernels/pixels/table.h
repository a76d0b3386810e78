// The PixelOps of each ISA. A new one takes its .cc and its line in table.cc.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_TABLE_H_
#define LARQ_ENGINE_KERNELS_PIXELS_TABLE_H_

#include <span>

#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

struct PixelOpsRow {
  Isa isa;
  const PixelOps* ops;
};

// Returns the rows that this build holds, from the lowest ISA to the highest.
std::span<const PixelOpsRow> PixelOpsRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_TABLE_H_
