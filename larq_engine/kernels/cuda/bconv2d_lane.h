// Code for a lane that makes the output of the values that tensor cores left in its own registers.
// Lanes exchange nothing but bits.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_LANE_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_LANE_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"

namespace larq_engine::cuda {

// Two neighbouring values, loaded or stored at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T v[2];
};

// The values that a lane holds of two fragments (16 rows, 16 columns), as tensor cores leave them:
// of rows g and g + 8, the columns 2t, 2t + 1, 2t + 8 and 2t + 9, which are channels here.
// Finishing more values at once would need more registers than there are for blocks that share a
// multiprocessor.
inline constexpr int kLaneRows = 2;
inline constexpr int kLaneChannels = 4;
inline constexpr int kLaneSums = kLaneRows * kLaneChannels;

LE_DEVICE constexpr int LaneColumn(int i) { return 8 * (i / 2) + i % 2; }  // counted from 2t

template <class T>
LE_DEVICE void LoadLaneChannels(const T* from, T (&to)[kLaneChannels]) {
  LE_UNROLL
  for (int i = 0; i < kLaneChannels; i += 2) {
    const auto pair = *reinterpret_cast<const Pair<T>*>(from + LaneColumn(i));
    to[i] = pair.v[0];
    to[i + 1] = pair.v[1];
  }
}

// A lane's values of two fragments, which go through the steps together: see PixelColumn.
struct PixelFragments {
  float (&y)[kLaneRows][kLaneChannels];
  bool (&inside)[kLaneRows];
  int64_t at;  // the first value's place in a tensor of `channels`
  int channels;
  int channel;

  LE_DEVICE int64_t Row(int h) const { return at + static_cast<int64_t>(8 * h) * channels; }

  template <class Compute>
  LE_DEVICE void ForEach(const Compute& compute) const {
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kLaneChannels; ++i) compute(y[h][i], Row(h) + LaneColumn(i));
    }
  }
  template <class Compute>
  LE_DEVICE void WithChannels(const float* values, const Compute& compute) const {
    float own[kLaneChannels];
    LoadLaneChannels(values + channel, own);
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kLaneChannels; ++i) compute(y[h][i], own[i]);
    }
  }
  struct Tensor {
    float v[kLaneRows][kLaneChannels];
  };
  LE_DEVICE Tensor Load(const float* values) const {
    Tensor tensor = {};
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      if (inside[h]) LoadLaneChannels(values + Row(h), tensor.v[h]);
    }
    return tensor;
  }
  template <class Compute>
  LE_DEVICE void With(const Tensor& tensor, const Compute& compute) const {
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kLaneChannels; ++i) compute(y[h][i], tensor.v[h][i]);
    }
  }
  template <class Compute>
  LE_DEVICE void WithTensor(const float* values, const Compute& compute) const {
    With(Load(values), compute);
  }
  LE_DEVICE void Store(float* out) const {
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) {
      if (!inside[h]) continue;
      LE_UNROLL
      for (int i = 0; i < kLaneChannels; i += 2) {
        *reinterpret_cast<Pair<float>*>(out + Row(h) + LaneColumn(i)) = {{y[h][i], y[h][i + 1]}};
      }
    }
  }
};

// Consecutive output pixels: the first one, and the end of the pixels that exist.
struct PixelRun {
  int first;
  int end;
};

// Tells whether each lane makes the output of the sums that it holds, instead of exchanging them.
LE_DEVICE bool FinishesInRegisters(const Bconv2dArgs& a) {
  if (a.group_out_channels % kWarp != 0) return false;
  if (a.output.epilogue != Bconv2dOutput::kAny) return true;
  return a.output.kind == Bconv2dOutput::kFloat && a.output.after.planes == 1;
}

// The place where a lane writes words of bits: of four lanes, 0 and 1 write rows g and g + 8.
struct LaneWords {
  uint32_t* words;  // the first word of the row
  bool is_there;    // whether this lane writes and the row has a pixel

  // Finds the place, where `pixel` is the lane's first pixel and `word` the first word of channels
  // in its fragments.
  LE_DEVICE static LaneWords At(const Bconv2dArgs& a, int pixel, int pixels, int word, int lane) {
    const int own = pixel + 8 * (lane % 4);
    const int64_t words = a.out_channels / kWarp;
    return {OutputBits(a) + (own * words + word), lane % 4 < kLaneRows && own < pixels};
  }

  // Writes word `i` of the bits that the lanes found for both rows. All lanes of the warp must call
  // it.
  LE_DEVICE void Store(int i, int lane, const uint32_t (&bits)[kLaneRows]) const {
    // Neighbouring lanes swap the bits that each has of the other's row; then pairs of lanes do the
    // same.
    const int shift = lane % 4 * 2;
    const bool has_second = lane % 2 == 1;
    uint32_t own = (has_second ? bits[1] : bits[0]) << shift;
    own |= __shfl_xor_sync(~0u, (has_second ? bits[0] : bits[1]) << shift, 1);
    own |= __shfl_xor_sync(~0u, own, 2);
    if (is_there) words[i] = own;
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_LANE_H_
