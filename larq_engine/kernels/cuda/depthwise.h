// Depthwise convolution of floats: a thread has a few channels of a pixel.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Several channels of a thread each come from one of the image, the same.
template <int kCount>
LE_DEVICE void DepthwiseConv2d(const DepthwiseArgs& a) {
  const ImageWindow& w = a.window;
  const ValuesPlace my = MyValues<kCount>(a.lanes, OutPixels(w), a.out_channels);
  Values<kCount> sum = {};
  if (my.inside) {
    const WindowStart start = StartOfWindow(w, my.pixel);
    const int channel = kCount == 1 ? Divide(my.channel, a.multiplier).quotient : my.channel;
    const float* const image = a.image + start.first_pixel * w.channels + channel;
    const float* weight = a.filter + my.channel;
    for (int ty = 0; ty < w.filter_height; ++ty) {
      const int y = start.top + ty;
      const bool is_inside = y >= 0 && y < w.in_height;
      const float* const line =
          image + static_cast<int64_t>(is_inside ? y : 0) * w.in_width * w.channels;
      for (int tx = 0; tx < w.filter_width; ++tx, weight += a.out_channels) {
        const int x = start.left + tx;
        Values<kCount> value = {};
        if (is_inside && x >= 0 && x < w.in_width) {
          value = LoadValues<kCount>(line + static_cast<int64_t>(x) * w.channels);
        }
        const auto weights = LoadValues<kCount>(weight);
        LE_UNROLL
        for (int i = 0; i < kCount; ++i) sum.v[i] = fmaf(value.v[i], weights.v[i], sum.v[i]);
      }
    }
  }
  FinishValues(a.program, sum, my, a.out_channels);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
