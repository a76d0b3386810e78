// Depthwise convolution of floats, with a thread for a few channels of a pixel.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pools.h"

namespace larq_engine::cuda {

// Returns the sums of a window's products for a thread's channels. value(ty, tx) returns the values
// of a tap. kFilter is the window's lines and columns, or 0 for any window.
template <int kCount, int kFilter, class Value>
LE_DEVICE Values<kCount> SumOfTaps(const DepthwiseArgs& a, int channel, const Value& value) {
  const int height = kFilter > 0 ? kFilter : a.window.filter_height;
  const int width = kFilter > 0 ? kFilter : a.window.filter_width;
  const float* weight = a.filter + channel;
  Values<kCount> sum = {};
  LE_UNROLL
  for (int ty = 0; ty < height; ++ty) {
    LE_UNROLL
    for (int tx = 0; tx < width; ++tx, weight += a.out_channels) {
      const auto weights = LoadValues<kCount>(weight);
      const Values<kCount> tap = value(ty, tx);
      LE_UNROLL
      for (int i = 0; i < kCount; ++i) sum.v[i] = fmaf(tap.v[i], weights.v[i], sum.v[i]);
    }
  }
  return sum;
}

// Returns the sums of a thread's channels. If it has several, each comes from the channel of the
// image with the same number.
template <int kCount, int kFilter>
LE_DEVICE Values<kCount> DepthwiseSum(const DepthwiseArgs& a, const WindowStart& start,
                                      int out_channel) {
  const ImageWindow& w = a.window;
  const int channel = kCount == 1 ? Divide(out_channel, a.multiplier).quotient : out_channel;
  if constexpr (kFilter > 0) {
    const NearestPixels<kFilter, kFilter> pixels(a.image, w, start, channel);
    return SumOfTaps<kCount, kFilter>(a, out_channel, [&](int ty, int tx) {
      const bool inside = IsInside(w, start.top + ty, start.left + tx);
      return inside ? LoadValues<kCount>(pixels.At(ty, tx)) : Values<kCount>{};
    });
  } else {
    const float* const image = a.image + start.first_pixel * w.channels + channel;
    return SumOfTaps<kCount, 0>(a, out_channel, [&](int ty, int tx) {
      const int y = start.top + ty;
      const int x = start.left + tx;
      if (!IsInside(w, y, x)) return Values<kCount>{};
      const int64_t pixel = static_cast<int64_t>(y) * w.in_width + x;
      return LoadValues<kCount>(image + pixel * w.channels);
    });
  }
}

template <int kCount, int kFilter = 0>
LE_DEVICE void DepthwiseConv2d(const DepthwiseArgs& a) {
  const ValuesPlace my = MyValues<kCount>(a.lanes, OutPixels(a.window), a.out_channels);
  Values<kCount> sum = {};
  if (my.inside) {
    sum = DepthwiseSum<kCount, kFilter>(a, StartOfWindow(a.window, my.pixel), my.channel);
  }
  FinishValues(a.program, sum, my, a.out_channels);
}

// Computes a depthwise convolution of the image that a max pool with windows of kPool lines and
// columns leaves. Each thread finds the pooled values that it needs.
template <int kPool, int kFilter>
LE_DEVICE void PooledDepthwise(const PooledDepthwiseArgs& a) {
  constexpr int kCount = 4;
  constexpr int kTaps = kPool + kFilter - 1;  // lines and columns of the image
  const ImageWindow& w = a.conv.window;
  const ValuesPlace my = MyValues<kCount>(a.conv.lanes, OutPixels(w), a.conv.out_channels);
  Values<kCount> sum = {};
  if (my.inside) {
    const WindowStart start = StartOfWindow(w, my.pixel);
    const WindowStart first = {
        start.image, start.image * (static_cast<int64_t>(a.pool.in_height) * a.pool.in_width),
        start.top - a.pool.pad_top, start.left - a.pool.pad_left};
    Values<kCount> taps[kTaps][kTaps];
    LoadPixels({a.conv.image, a.pool, first, my.channel}, taps);
    sum = SumOfTaps<kCount, kFilter>(a.conv, my.channel, [&](int ty, int tx) {
      const bool inside = IsInside(w, start.top + ty, start.left + tx);
      return inside ? Greatest<kPool>(taps, ty, tx) : Values<kCount>{};
    });
  }
  FinishValues(a.conv.program, sum, my, a.conv.out_channels);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_H_
