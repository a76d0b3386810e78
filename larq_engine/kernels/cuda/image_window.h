// A window that slides over images, and the size of its results. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_IMAGE_WINDOW_H_
#define LARQ_ENGINE_KERNELS_CUDA_IMAGE_WINDOW_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/divisor.h"

namespace larq_engine::cuda {

struct ImageWindow {
  int32_t batch, in_height, in_width, channels;  // the images'; packed bits have words as channels
  Divisor out_height, out_width;
  int32_t filter_height, filter_width, stride_height, stride_width;
  int32_t pad_top, pad_left;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_IMAGE_WINDOW_H_
