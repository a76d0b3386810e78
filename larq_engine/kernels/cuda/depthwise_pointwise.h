// A depthwise convolution fused with the 1x1 convolution that follows it: the results of the first
// go straight into the left tile of the second, and never to memory.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_POINTWISE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_POINTWISE_H_

#include "larq_engine/kernels/cuda/conv2d.h"
#include "larq_engine/kernels/cuda/depthwise.h"

namespace larq_engine::cuda {

// Fills a thread's part of the left tile by computing it, where CopiedTaps copies it.
template <int kRows, int kApart>
class ComputedChannels {
 public:
  LE_DEVICE ComputedChannels(const DepthwiseArgs& a, int64_t pixel) : a_(a) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      is_there_[i] = pixel + i * kApart < OutPixels(a.window);
      starts_[i] = StartOfWindow(a.window, is_there_[i] ? pixel + i * kApart : 0);
    }
  }

  LE_DEVICE void Fill(int channel, float* to) const {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      Values<4> y = {};
      if (is_there_[i] && channel < a_.out_channels) {
        y = DepthwiseSum<4, 3>(a_, starts_[i], channel);
        RunSteps(a_.program, PixelValues<4>{y, 0, channel});
      }
      *reinterpret_cast<Values<4>*>(to + i * kApart * kConvPitch) = y;
    }
  }

 private:
  const DepthwiseArgs& a_;
  WindowStart starts_[kRows];
  bool is_there_[kRows];
};

template <int kPixels, int kChannels, int kStages>
LE_DEVICE void DepthwisePointwise(const DepthwisePointwiseArgs& a) {
  MultiplyTile<kPixels, kChannels, kStages, ComputedChannels>(a.pointwise, a.depthwise);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DEPTHWISE_POINTWISE_H_
