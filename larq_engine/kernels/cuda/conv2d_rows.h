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

// Large tiles read least; small ones are for where large ones would leave a part of the chip
// without work. A pure function.
const Conv2dRow& SelectConv2d(const Conv2dArgs& args, const Chip& chip);

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_CONV2D_ROWS_H_
