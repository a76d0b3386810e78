// Pooling on the device: the greatest, and the average, by kernels/pool.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_POOLS_H_
#define LARQ_ENGINE_KERNELS_CUDA_POOLS_H_

#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

LE_DEVICE int Least(int a, int b) { return a < b ? a : b; }

// Calls take(at) with the place of the channel of each tap inside the image, line by line. Those
// outside are not looked at: a file may ask for a window of any size.
template <class Take>
LE_DEVICE void ForEachTap(const ImageWindow& w, int64_t pixel, int channel, const Take& take) {
  const WindowStart start = StartOfWindow(w, pixel);
  const int bottom = Least(w.in_height, start.top + w.filter_height);
  const int right = Least(w.in_width, start.left + w.filter_width);
  for (int y = start.top < 0 ? 0 : start.top; y < bottom; ++y) {
    const int64_t line = start.first_pixel + static_cast<int64_t>(y) * w.in_width;
    for (int x = start.left < 0 ? 0 : start.left; x < right; ++x) {
      take((line + x) * w.channels + channel);
    }
  }
}

// A bit is 1 where all are: -1.
LE_DEVICE void MaxPoolBits(const PoolArgs& a) {
  const int64_t at = MyIndex();
  if (at >= OutPixels(a.window) * a.window.channels) return;
  uint32_t word = ~0u;
  ForEachTap(a.window, at / a.window.channels, static_cast<int>(at % a.window.channels),
             [&](int64_t from) { word &= a.bits[from]; });
  a.bits_out[at] = word;
}

// What is greater replaces what came before.
LE_DEVICE void MaxPoolFloats(const PoolArgs& a) {
  const WarpPart part = MyWarpPart(a.window.channels);
  if (part.pixel >= OutPixels(a.window)) return;
  float y = 0;
  bool is_first = true;
  if (part.inside) {
    ForEachTap(a.window, part.pixel, part.word * kWarp + part.lane, [&](int64_t from) {
      const float value = a.floats[from];
      y = is_first || value > y ? value : y;
      is_first = false;
    });
  }
  FinishWord(a.program, y, part.pixel, part.word, part.lane, a.window.channels, part.inside);
}

// Of ImageAverage in kernels/pool.h.
constexpr int kPixelsOfPart = 16;

// Whether the one window of an image has all of its pixels.
LE_DEVICE bool CoversImage(const ImageWindow& w) {
  return w.out_height == 1 && w.out_width == 1 && w.filter_height - w.pad_top >= w.in_height &&
         w.filter_width - w.pad_left >= w.in_width;
}

// The sum in order, or that of parts of a whole image, by the number of taps inside.
LE_DEVICE void AveragePool(const PoolArgs& a) {
  const WarpPart part = MyWarpPart(a.window.channels);
  if (part.pixel >= OutPixels(a.window)) return;
  const bool in_parts = CoversImage(a.window);
  float sum = 0;
  float sum_of_part = 0;
  int taps = 0;
  if (part.inside) {
    ForEachTap(a.window, part.pixel, part.word * kWarp + part.lane, [&](int64_t from) {
      sum_of_part += a.floats[from];
      if (++taps % kPixelsOfPart == 0 && in_parts) {
        sum += sum_of_part;
        sum_of_part = 0;
      }
    });
  }
  FinishWord(a.program, (sum + sum_of_part) / static_cast<float>(taps), part.pixel, part.word,
             part.lane, a.window.channels, part.inside);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_POOLS_H_
