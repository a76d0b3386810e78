// Computes an output transform by a CPU's PixelOps, one tile at a time.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_TRANSFORM_TILE_H_
#define LARQ_ENGINE_KERNELS_LAYERS_TRANSFORM_TILE_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/output_transform.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// The places of a tile's accumulators and of its outputs.
struct TransformTile {
  size_t rows;
  size_t first_channel;
  size_t channels;
  const int32_t* acc;  // at the first row and channel
  size_t acc_stride;
  const int32_t* depth;  // [rows], as in TransformArgs
  void* out;             // at the first row and channel
  size_t out_stride;     // bytes
  ResidualSum sum = {};  // at the first row and channel
};

void Transform(const PixelOps& ops, const OutputTransform& transform, const TransformTile& tile);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_TRANSFORM_TILE_H_
