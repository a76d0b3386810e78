// The choice among the kernels of float convolutions. Their results are the same.
#ifndef LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_
#define LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_

#include <span>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/floats_args.h"

namespace larq_engine::cuda {

struct Conv2dRow {
  KernelId kernel;
  int pixels;  // of a block's tile
  int channels;

  int32_t channel_tiles(const Conv2dArgs& args) const;
  LaunchSize size(const Conv2dArgs& args) const;
};

std::span<const Conv2dRow> Conv2dRows();
// A tile that is narrower than a word of bits has all channels.
bool Takes(const Conv2dRow& row, const Conv2dArgs& args);
std::span<const Conv2dRow> DepthwisePointwiseRows();

// Large tiles read least; small ones are for where large ones would leave a part of the chip
// without work. Pure functions.
const Conv2dRow& SelectConv2d(const Conv2dArgs& args, const Chip& chip);
const Conv2dRow& SelectDepthwisePointwise(const Conv2dArgs& pointwise, const Chip& chip);

// Whether a kernel computes the depthwise convolution within that of the pixels that it makes, as
// far as windows and channels say. Not for more channels than a tile has: each tile computes the
// depthwise convolution anew.
bool TakesDepthwisePointwise(const DepthwiseArgs& depthwise, const Conv2dArgs& pointwise);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_
