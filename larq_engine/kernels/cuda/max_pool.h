// Max pooling on the device, by kernels/max_pool.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_MAX_POOL_H_
#define LARQ_ENGINE_KERNELS_CUDA_MAX_POOL_H_

#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Calls take(at) with the place in `image` of the channel of each tap inside it, row by row.
template <class Take>
LE_DEVICE void ForEachTap(const MaxPoolArgs& a, int64_t pixel, int channel, const Take& take) {
  const int left = static_cast<int>(pixel % a.out_width) * a.stride_width - a.pad_left;
  const int top =
      static_cast<int>(pixel / a.out_width % a.out_height) * a.stride_height - a.pad_top;
  const int64_t image = pixel / (static_cast<int64_t>(a.out_width) * a.out_height);
  for (int ty = 0; ty < a.filter_height; ++ty) {
    for (int tx = 0; tx < a.filter_width; ++tx) {
      const int y = top + ty;
      const int x = left + tx;
      if (y < 0 || y >= a.in_height || x < 0 || x >= a.in_width) continue;
      take(((image * a.in_height + y) * a.in_width + x) * a.channels + channel);
    }
  }
}

LE_DEVICE int64_t OutputPixels(const MaxPoolArgs& a) {
  return static_cast<int64_t>(a.batch) * a.out_height * a.out_width;
}

// A bit is 1 where all are: -1.
LE_DEVICE void MaxPoolBits(const MaxPoolArgs& a) {
  const int64_t at = MyIndex();
  if (at >= OutputPixels(a) * a.channels) return;
  uint32_t word = ~0u;
  ForEachTap(a, at / a.channels, static_cast<int>(at % a.channels),
             [&](int64_t from) { word &= a.bits[from]; });
  a.bits_out[at] = word;
}

// What is greater replaces what came before.
LE_DEVICE void MaxPoolFloats(const MaxPoolArgs& a) {
  const WarpPart part = MyWarpPart(a.channels);
  if (part.pixel >= OutputPixels(a)) return;
  float y = 0;
  bool is_first = true;
  if (part.inside) {
    ForEachTap(a, part.pixel, part.word * kWarp + part.lane, [&](int64_t from) {
      const float value = a.floats[from];
      y = is_first || value > y ? value : y;
      is_first = false;
    });
  }
  FinishWord(a.program, y, part.pixel, part.word, part.lane, a.channels, part.inside);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_MAX_POOL_H_
