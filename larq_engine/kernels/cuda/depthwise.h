// Depthwise convolution of floats: a thread a value.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

LE_DEVICE void DepthwiseConv2d(const DepthwiseArgs& a) {
  const WarpPart part = MyWarpPart(a.out_channels);
  if (part.pixel >= OutPixels(a.window)) return;
  float sum = 0;
  if (part.inside) {
    const int channel = part.word * kWarp + part.lane;
    const WindowStart start = StartOfWindow(a.window, part.pixel);
    const float* const image =
        a.image + start.first_pixel * a.window.channels + channel / a.multiplier;
    const float* weight = a.filter + channel;
    for (int ty = 0; ty < a.window.filter_height; ++ty) {
      const int y = start.top + ty;
      const bool is_inside = y >= 0 && y < a.window.in_height;
      const float* const line =
          image + static_cast<int64_t>(is_inside ? y : 0) * a.window.in_width * a.window.channels;
      for (int tx = 0; tx < a.window.filter_width; ++tx, weight += a.out_channels) {
        const int x = start.left + tx;
        const float value = is_inside && x >= 0 && x < a.window.in_width
                                ? line[static_cast<int64_t>(x) * a.window.channels]
                                : 0.0f;
        sum = fmaf(value, *weight, sum);
      }
    }
  }
  FinishWord(a.program, sum, part.pixel, part.word, part.lane, a.out_channels, part.inside);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
