// Where the taps of a window that slides over images lie, on the device.
#ifndef LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_
#define LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/image_window.h"

namespace larq_engine::cuda {

LE_DEVICE int64_t OutPixels(const ImageWindow& w) {
  return static_cast<int64_t>(w.batch) * w.out_height.value * w.out_width.value;
}

// Of an output pixel: its image, and the first tap, which may lie outside.
struct WindowStart {
  int64_t first_pixel;  // of its image
  int top;
  int left;
};

template <class Number>
LE_DEVICE WindowStart FindStartOfWindow(const ImageWindow& w, Number pixel) {
  const Divided<Number> column = Divide(pixel, w.out_width);
  const Divided<Number> line = Divide(column.quotient, w.out_height);
  return {line.quotient * (static_cast<int64_t>(w.in_height) * w.in_width),
          line.rest * w.stride_height - w.pad_top, column.rest * w.stride_width - w.pad_left};
}

LE_DEVICE WindowStart StartOfWindow(const ImageWindow& w, int64_t pixel) {
  return HasLittlePlaces(pixel) ? FindStartOfWindow(w, static_cast<int32_t>(pixel))
                                : FindStartOfWindow(w, pixel);
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
