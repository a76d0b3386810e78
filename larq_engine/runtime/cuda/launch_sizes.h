// Sizes of launches whose threads go through a tensor.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_SIZES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_SIZES_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/kernel_table.h"
#include "larq_engine/runtime/ops/elementwise_op.h"
#include "larq_engine/runtime/ops/shape.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

inline int64_t ChannelsOf(const TensorShape& shape) { return Channels(shape.dims); }

inline int64_t PixelsOf(const TensorShape& shape) {
  const int64_t values = CountElements(shape.dims, shape.dims.size());
  return values == 0 ? 0 : values / ChannelsOf(shape);
}

inline cuda::LaunchSize ThreadForEach(int64_t count) {
  constexpr uint32_t kThreads = 128;
  return {.blocks = (count + kThreads - 1) / kThreads, .threads = kThreads};
}

// Gives each word (32 channels of a pixel) a warp.
inline cuda::LaunchSize WarpForEachWord(int64_t pixels, int64_t channels) {
  return ThreadForEach(pixels * ((channels + 31) / 32) * 32);
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_SIZES_H_
