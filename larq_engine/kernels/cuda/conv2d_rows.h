// The choice among the kernels of float convolutions. All of them give the same results.
#ifndef LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_
#define LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_

#include <span>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/floats_args.h"

namespace larq_engine::cuda {

struct Conv2dRow {
  KernelId kernel;
  int pixels;  // output pixels of a block's tile
  int channels;

  int32_t channel_tiles(const Conv2dArgs& args) const;
  LaunchSize size(const Conv2dArgs& args) const;
};

std::span<const Conv2dRow> Conv2dRows();
// Tells whether the row computes a layer. A tile that is narrower than a word of bits must have all
// channels.
bool Takes(const Conv2dRow& row, const Conv2dArgs& args);
std::span<const Conv2dRow> DepthwisePointwiseRows();

// Returns the row for a layer. Large tiles read the least memory; small ones are chosen if large
// ones would leave a part of the chip idle. Pure functions.
const Conv2dRow& SelectConv2d(const Conv2dArgs& args, const Chip& chip);
const Conv2dRow& SelectDepthwisePointwise(const Conv2dArgs& pointwise, const Chip& chip);

// Tells whether one kernel may compute the depthwise convolution and the 1x1 convolution behind it,
// as far as windows and channels decide this. The output may have no more channels than a tile, as
// each tile computes the depthwise convolution anew.
bool TakesDepthwisePointwise(const DepthwiseArgs& depthwise, const Conv2dArgs& pointwise);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_
