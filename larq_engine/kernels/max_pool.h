// LceBMaxPool2d and float max pooling: the maximum of each window of an image.
#ifndef LARQ_ENGINE_KERNELS_MAX_POOL_H_
#define LARQ_ENGINE_KERNELS_MAX_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/window.h"

namespace larq_engine {

// The most taps whose maximum is taken at once.
inline constexpr size_t kMaxTaps = 16;

// Pools output pixels [first, last) of the whole batch; `values` are those of a pixel, words or
// floats. `max` is PixelOps::max_bits or max_float. out starts at pixel `first`.
template <typename T>
void MaxPool2d(const T* in, const WindowAxis& rows, const WindowAxis& cols, size_t values,
               int64_t first, int64_t last,
               void (*max)(const T* const* taps, size_t tap_count, size_t count, T* out), T* out) {
  const size_t image_values = static_cast<size_t>(rows.in * cols.in) * values;
  for (int64_t pixel = first; pixel < last;) {
    const int64_t x = pixel % cols.out;
    const int64_t y = pixel / cols.out % rows.out;
    const T* image = in + static_cast<size_t>(pixel / (cols.out * rows.out)) * image_values;
    const WindowAxis::Taps ys = rows.InsideTaps(y);
    const WindowAxis::Taps xs = cols.InsideTaps(x);
    // With stride 1, pixels whose taps are all inside have each tap one after the other in memory.
    int64_t pixels = 1;
    if (cols.stride == 1 && xs.first == 0 && xs.last == cols.taps) {
      pixels = std::min(last - pixel, cols.in - cols.taps + cols.pad_before - x + 1);
    }
    const size_t count = static_cast<size_t>(pixels) * values;
    const T* taps[kMaxTaps];
    size_t tap_count = 0;
    const auto take = [&] {
      max(taps, tap_count, count, out);
      taps[0] = out;  // for the taps that are left
      tap_count = 1;
    };
    for (int64_t ty = ys.first; ty < ys.last; ++ty) {
      const int64_t line = (y * rows.stride - rows.pad_before + ty) * cols.in;
      for (int64_t tx = xs.first; tx < xs.last; ++tx) {
        const int64_t ix = x * cols.stride - cols.pad_before + tx;
        if (tap_count == kMaxTaps) take();
        taps[tap_count++] = image + static_cast<size_t>(line + ix) * values;
      }
    }
    take();  // a window of SAME has a tap inside
    pixel += pixels;
    out += count;
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_MAX_POOL_H_
