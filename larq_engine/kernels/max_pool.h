// LceBMaxPool2d and float max pooling: the maximum of each window of an image.
#ifndef LARQ_ENGINE_KERNELS_MAX_POOL_H_
#define LARQ_ENGINE_KERNELS_MAX_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/window.h"

namespace larq_engine {

// Pools output pixels [first, last) of the whole batch; `values` are those of a pixel, words or
// floats. `max` is PixelOps::max_bits or max_float. out starts at pixel `first`.
template <typename T>
void MaxPool2d(const T* in, const WindowAxis& rows, const WindowAxis& cols, size_t values,
               int64_t first, int64_t last, void (*max)(const T* in, size_t count, T* inout),
               T* out) {
  const size_t image_values = static_cast<size_t>(rows.in * cols.in) * values;
  for (int64_t pixel = first; pixel < last; ++pixel, out += values) {
    const int64_t x = pixel % cols.out;
    const int64_t y = pixel / cols.out % rows.out;
    const T* image = in + static_cast<size_t>(pixel / (cols.out * rows.out)) * image_values;
    const WindowAxis::Taps ys = rows.InsideTaps(y);
    const WindowAxis::Taps xs = cols.InsideTaps(x);
    bool is_first = true;  // a window of SAME has a tap inside
    for (int64_t ty = ys.first; ty < ys.last; ++ty) {
      const int64_t line = (y * rows.stride - rows.pad_before + ty) * cols.in;
      for (int64_t tx = xs.first; tx < xs.last; ++tx) {
        const int64_t ix = x * cols.stride - cols.pad_before + tx;
        const T* tap = image + static_cast<size_t>(line + ix) * values;
        if (is_first) {
          std::copy_n(tap, values, out);
          is_first = false;
        } else {
          max(tap, values, out);
        }
      }
    }
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_MAX_POOL_H_
