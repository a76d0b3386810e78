// Pooling: the maximum of each window of an image, of bits or floats, and the average of floats.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_POOL_H_
#define LARQ_ENGINE_KERNELS_PIXELS_POOL_H_

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// The most taps that one reduction takes.
inline constexpr size_t kMaxTaps = 16;

inline bool TapsFit(const WindowAxes& window) {
  return window.height.taps <= static_cast<int64_t>(kMaxTaps) / window.width.taps;
}

// Pools output pixels [first, last) of the whole batch. `values` is the number of words or floats
// of a pixel. `out` starts at pixel `first`. reduce(taps, tap_count, count, window_taps, out)
// reduces some taps to one. `window_taps` is the number of taps that the pixel has in all, or 0 if
// more will come, which are reduced with this result.
template <typename T, typename Reduce>
void Pool2d(const T* in, const WindowAxes& window, size_t values, int64_t first, int64_t last,
            const Reduce& reduce, T* out) {
  const auto& [height, width] = window;
  assert(height.dilation == 1 && width.dilation == 1);
  const size_t image_values = static_cast<size_t>(window.in_pixels()) * values;
  const size_t step = static_cast<size_t>(width.stride) * values;
  const bool taps_fit = TapsFit(window);
  int64_t x = first % width.out;
  int64_t y = first / width.out % height.out;
  const T* image = in + static_cast<size_t>(first / window.out_pixels()) * image_values;
  for (int64_t pixel = first; pixel < last;) {
    const WindowAxis::Taps ys = height.InsideTaps(y);
    const WindowAxis::Taps xs = width.InsideTaps(x);
    // Up to the end of the line or of the range, pixels whose taps are all inside have their taps
    // one step after those of the pixel before. With stride 1 each tap is a run in memory.
    int64_t pixels = 1;
    if (xs.first == 0 && xs.last == width.taps && (taps_fit || width.stride == 1)) {
      const int64_t last_inner = (width.in - width.taps + width.pad_before) / width.stride;
      pixels = std::min(last - pixel, last_inner - x + 1);
    }
    const int64_t calls = width.stride == 1 ? 1 : pixels;
    const size_t count = static_cast<size_t>(pixels / calls) * values;
    const T* taps[kMaxTaps];
    size_t tap_count = 0;
    const int64_t window_taps = (ys.last - ys.first) * (xs.last - xs.first);
    const auto take = [&] {
      reduce(taps, tap_count, count, int64_t{0}, out);
      taps[0] = out;  // the result so far is the first of the taps that are left
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
    // A window of SAME has at least one tap inside the image.
    reduce(taps, tap_count, count, window_taps, out);
    out += count;
    for (int64_t call = 1; call < calls; ++call, out += count) {
      for (size_t tap = 0; tap < tap_count; ++tap) taps[tap] += step;
      reduce(taps, tap_count, count, window_taps, out);
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

// `max` is PixelOps::max_bits or max_float.
template <typename T>
void MaxPool2d(const T* in, const WindowAxes& window, size_t values, int64_t first, int64_t last,
               void (*max)(const T* const* taps, size_t tap_count, size_t count, T* out), T* out) {
  const auto reduce = [max](const T* const* taps, size_t tap_count, size_t count, int64_t, T* to) {
    max(taps, tap_count, count, to);
  };
  Pool2d(in, window, values, first, last, reduce, out);
}

// Tells whether each reduction of a window covers one pixel's values, and all of its taps at once.
inline bool ReducesPixels(const WindowAxes& window) {
  return window.width.stride > 1 && TapsFit(window);
}

// Pools the maximum of products with a factor for each of a pixel's values; `max` is
// PixelOps::max_products. ReducesPixels must hold for the windows.
inline void MaxPool2dOfProducts(const float* in, const float* factors, const WindowAxes& window,
                                size_t values, int64_t first, int64_t last,
                                void (*max)(const float* const* taps, size_t tap_count,
                                            const float* factors, size_t count, float* out),
                                float* out) {
  assert(ReducesPixels(window));
  const auto reduce = [max, factors](const float* const* taps, size_t tap_count, size_t count,
                                     int64_t,
                                     float* to) { max(taps, tap_count, factors, count, to); };
  Pool2d(in, window, values, first, last, reduce, out);
}

// Pools the average: the sum of the taps in order, divided by their number. `average` is
// PixelOps::average.
inline void AveragePool2d(const float* in, const WindowAxes& window, size_t values, int64_t first,
                          int64_t last,
                          void (*average)(const float* const* taps, size_t tap_count, size_t count,
                                          float divisor, float* out),
                          float* out) {
  const auto reduce = [average](const float* const* taps, size_t tap_count, size_t count,
                                int64_t window_taps, float* to) {
    average(taps, tap_count, count, window_taps == 0 ? 1.0f : static_cast<float>(window_taps), to);
  };
  Pool2d(in, window, values, first, last, reduce, out);
}

// Tells whether the window has one output, which depends on all pixels of the image.
inline bool CoversImage(const WindowAxes& window) {
  const auto covers = [](const WindowAxis& axis) {
    const WindowAxis::Taps inside = axis.InsideTaps(0);
    return axis.out == 1 && inside.last - inside.first == axis.in;
  };
  return covers(window.height) && covers(window.width);
}

// The average of a whole image. The image is cut into parts of kPixelsOfPart pixels, the last of
// which has the rest. Each part is summed in order, then the parts' sums are summed in order and
// divided by the number of pixels. Parts can be summed concurrently. `average` is
// PixelOps::average.
class ImageAverage {
 public:
  // The results depend on this number; cuda/pools.h has the same one.
  static constexpr size_t kPixelsOfPart = 16;
  using Average = void (*)(const float* const* taps, size_t tap_count, size_t count, float divisor,
                           float* out);

  ImageAverage(size_t pixels, size_t values, Average average)
      : pixels_(pixels), values_(values), average_(average) {}

  size_t parts() const { return (pixels_ + kPixelsOfPart - 1) / kPixelsOfPart; }

  // `sums` holds the sums of all parts.
  void SumParts(const float* image, size_t first, size_t last, float* sums) const {
    for (size_t part = first; part < last; ++part) {
      const size_t pixel = part * kPixelsOfPart;
      const size_t count = std::min(kPixelsOfPart, pixels_ - pixel);
      Sum(image + pixel * values_, count, 1, sums + part * values_);
    }
  }

  void Finish(const float* sums, float* out) const {
    Sum(sums, parts(), static_cast<float>(pixels_), out);
  }

 private:
  void Sum(const float* pixels, size_t count, float divisor, float* out) const {
    const float* taps[kMaxTaps];
    size_t tap_count = 0;
    for (size_t pixel = 0; pixel < count; ++pixel) {
      if (tap_count == kMaxTaps) {
        average_(taps, tap_count, values_, 1, out);
        taps[0] = out;  // the sum so far is the first of the taps that are left
        tap_count = 1;
      }
      taps[tap_count++] = pixels + pixel * values_;
    }
    average_(taps, tap_count, values_, divisor, out);
  }

  size_t pixels_;
  size_t values_;
  Average average_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_POOL_H_
