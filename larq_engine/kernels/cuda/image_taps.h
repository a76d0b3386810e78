// Where the taps of a window that slides over images lie, on the device.
#ifndef LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_
#define LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/image_window.h"

namespace larq_engine::cuda {

LE_DEVICE int64_t OutPixels(const ImageWindow& w) {
  return static_cast<int64_t>(w.batch) * w.out_height * w.out_width;
}

// Of an output pixel: its image, and the first tap, which may lie outside.
struct WindowStart {
  int64_t first_pixel;  // of its image
  int top;
  int left;
};

LE_DEVICE WindowStart StartOfWindow(const ImageWindow& w, int64_t pixel) {
  const int64_t line = pixel / w.out_width;
  return {line / w.out_height * (static_cast<int64_t>(w.in_height) * w.in_width),
          static_cast<int>(line % w.out_height) * w.stride_height - w.pad_top,
          static_cast<int>(pixel % w.out_width) * w.stride_width - w.pad_left};
}

// The pixel of all images that a tap is, below 0 outside.
LE_DEVICE int64_t TapPixel(const ImageWindow& w, const WindowStart& start, int ty, int tx) {
  const int y = start.top + ty;
  const int x = start.left + tx;
  if (y < 0 || y >= w.in_height || x < 0 || x >= w.in_width) return -1;
  return start.first_pixel + static_cast<int64_t>(y) * w.in_width + x;
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_
