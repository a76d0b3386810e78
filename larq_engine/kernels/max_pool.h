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
void MaxPool2d(const T* in, const WindowAxis& height, const WindowAxis& width, size_t values,
               int64_t first, int64_t last,
               void (*max)(const T* const* taps, size_t tap_count, size_t count, T* out), T* out) {
  const size_t image_values = static_cast<size_t>(height.in * width.in) * values;
  const size_t step = static_cast<size_t>(width.stride) * values;
  const bool taps_fit = height.taps <= static_cast<int64_t>(kMaxTaps) / width.taps;
  int64_t x = first % width.out;
  int64_t y = first / width.out % height.out;
  const T* image = in + static_cast<size_t>(first / (width.out * height.out)) * image_values;
  for (int64_t pixel = first; pixel < last;) {
    const WindowAxis::Taps ys = height.InsideTaps(y);
    const WindowAxis::Taps xs = width.InsideTaps(x);
    // Pixels whose taps are all inside, to the end of the line or of the range, have theirs one
    // step after those of the one before; with stride 1 each tap is a run in memory.
    int64_t pixels = 1;
    if (xs.first == 0 && xs.last == width.taps && (taps_fit || width.stride == 1)) {
      const int64_t last_inner = (width.in - width.taps + width.pad_before) / width.stride;
      pixels = std::min(last - pixel, last_inner - x + 1);
    }
    const int64_t calls = width.stride == 1 ? 1 : pixels;
    const size_t count = static_cast<size_t>(pixels / calls) * values;
    const T* taps[kMaxTaps];
    size_t tap_count = 0;
    const auto take = [&] {
      max(taps, tap_count, count, out);
      taps[0] = out;  // for the taps that are left
      tap_count = 1;
    };
    for (int64_t ty = ys.first; ty < ys.last; ++ty) {
      const int64_t line = (y * height.stride - height.pad_before + ty) * width.in;
      for (int64_t tx = xs.first; tx < xs.last; ++tx) {
        const int64_t ix = x * width.stride - width.pad_before + tx;
        if (tap_count == kMaxTaps) take();
        taps[tap_count++] = image + static_cast<size_t>(line + ix) * values;
      }
    }
    max(taps, tap_count, count, out);  // a window of SAME has a tap inside
    out += count;
    for (int64_t call = 1; call < calls; ++call, out += count) {
      for (size_t tap = 0; tap < tap_count; ++tap) taps[tap] += step;
      max(taps, tap_count, count, out);
    }
    pixel += pixels;
    x += pixels;
    if (x == width.out) {
      x = 0;
      if (++y == height.out) {
        y = 0;
        image += image_values;
      }
    }
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_MAX_POOL_H_
