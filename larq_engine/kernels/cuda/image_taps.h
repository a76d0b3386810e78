// Finds the taps of a window that slides over images, on the device.
#ifndef LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_
#define LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/image_window.h"

namespace larq_engine::cuda {

LE_DEVICE int64_t OutPixels(const ImageWindow& w) {
  return static_cast<int64_t>(w.batch) * w.out_height.value * w.out_width.value;
}

LE_DEVICE bool HasFilter(const ImageWindow& w, int filter) {
  return w.filter_height == filter && w.filter_width == filter;
}

LE_DEVICE bool HasLine(const ImageWindow& w, int y) {
  return static_cast<unsigned>(y) < static_cast<unsigned>(w.in_height);
}

LE_DEVICE bool IsInside(const ImageWindow& w, int y, int x) {
  return HasLine(w, y) && static_cast<unsigned>(x) < static_cast<unsigned>(w.in_width);
}

// The image of an output pixel and the first tap of its window, which may lie outside the image.
struct WindowStart {
  int64_t image;
  int64_t first_pixel;  // the first pixel of the image
  int top;
  int left;
};

template <class Number>
LE_DEVICE WindowStart FindStartOfWindow(const ImageWindow& w, Number pixel) {
  const Divided<Number> column = Divide(pixel, w.out_width);
  const Divided<Number> line = Divide(column.quotient, w.out_height);
  return {line.quotient, line.quotient * (static_cast<int64_t>(w.in_height) * w.in_width),
          line.rest * w.stride_height - w.pad_top, column.rest * w.stride_width - w.pad_left};
}

LE_DEVICE WindowStart StartOfWindow(const ImageWindow& w, int64_t pixel) {
  return HasLittlePlaces(pixel) ? FindStartOfWindow(w, static_cast<int32_t>(pixel))
                                : FindStartOfWindow(w, pixel);
}

// The places where the values of kLines x kColumns pixels begin; a pixel outside the image is
// replaced by the nearest one inside.
template <int kLines, int kColumns>
struct NearestPixels {
  const float* lines[kLines];
  int64_t columns[kColumns];  // offsets in a line

  LE_DEVICE NearestPixels(const float* image, const ImageWindow& w, const WindowStart& start,
                          int channel) {
    const int64_t line_values = static_cast<int64_t>(w.in_width) * w.channels;
    LE_UNROLL
    for (int i = 0; i < kLines; ++i) {
      lines[i] = image + start.first_pixel * w.channels +
                 Nearest(start.top + i, w.in_height) * line_values + channel;
    }
    LE_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      columns[i] = static_cast<int64_t>(Nearest(start.left + i, w.in_width)) * w.channels;
    }
  }
  LE_DEVICE const float* At(int line, int column) const { return lines[line] + columns[column]; }

 private:
  LE_DEVICE static int Nearest(int at, int size) {
    const int from_0 = at < 0 ? 0 : at;
    return from_0 < size ? from_0 : size - 1;
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_IMAGE_TAPS_H_
