// What a lane has of a product's fragments, as tensor cores leave them in registers: it makes the
// output of these values by itself, and exchanges nothing but bits.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OWN_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OWN_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"

namespace larq_engine::cuda {

// Neighbours, loaded or stored at once.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T v[2];
};

// What a lane has of two fragments, of 16 rows and 16 columns, as tensor cores leave them: of rows
// g and g + 8 the columns 2t, 2t + 1, 2t + 8 and 2t + 9, which are channels here. More at once
// would need more registers than blocks that share a multiprocessor have.
inline constexpr int kOwnRows = 2;
inline constexpr int kOwnChannels = 4;
inline constexpr int kOwnSums = kOwnRows * kOwnChannels;

LE_DEVICE constexpr int OwnColumn(int i) { return 8 * (i / 2) + i % 2; }  // from 2t on

template <class T>
LE_DEVICE void LoadOwn(const T* from, T (&to)[kOwnChannels]) {
  LE_UNROLL
  for (int i = 0; i < kOwnChannels; i += 2) {
    const auto pair = *reinterpret_cast<const Pair<T>*>(from + OwnColumn(i));
    to[i] = pair.v[0];
    to[i + 1] = pair.v[1];
  }
}

// Values that take the steps together: see PixelColumn.
struct PixelFragments {
  float (&y)[kOwnRows][kOwnChannels];
  bool (&inside)[kOwnRows];
  int64_t at;  // the first value's place in a tensor of `channels`
  int channels;
  int channel;

  LE_DEVICE int64_t Row(int h) const { return at + static_cast<int64_t>(8 * h) * channels; }

  template <class Compute>
  LE_DEVICE void ForEach(const Compute& compute) const {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], Row(h) + OwnColumn(i));
    }
  }
  template <class Compute>
  LE_DEVICE void WithChannels(const float* values, const Compute& compute) const {
    float own[kOwnChannels];
    LoadOwn(values + channel, own);
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], own[i]);
    }
  }
  struct Tensor {
    float v[kOwnRows][kOwnChannels];
  };
  LE_DEVICE Tensor Load(const float* values) const {
    Tensor tensor = {};
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      if (inside[h]) LoadOwn(values + Row(h), tensor.v[h]);
    }
    return tensor;
  }
  template <class Compute>
  LE_DEVICE void With(const Tensor& tensor, const Compute& compute) const {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; ++i) compute(y[h][i], tensor.v[h][i]);
    }
  }
  template <class Compute>
  LE_DEVICE void WithTensor(const float* values, const Compute& compute) const {
    With(Load(values), compute);
  }
  LE_DEVICE void Store(float* out) const {
    LE_UNROLL
    for (int h = 0; h < kOwnRows; ++h) {
      if (!inside[h]) continue;
      LE_UNROLL
      for (int i = 0; i < kOwnChannels; i += 2) {
        *reinterpret_cast<Pair<float>*>(out + Row(h) + OwnColumn(i)) = {{y[h][i], y[h][i + 1]}};
      }
    }
  }
};

// Pixels that lie one behind the other: the first, and the end of those that there are.
struct PixelRun {
  int first;
  int end;
};

// Whether lanes make the output of what they have, or exchange it.
LE_DEVICE bool HasOwn(const Bconv2dArgs& a) {
  if (a.group_out_channels % kWarp != 0) return false;
  if (a.output.epilogue != Bconv2dOutput::kAny) return true;
  return a.output.kind == Bconv2dOutput::kFloat && a.output.after.planes == 1;
}

// Where a lane writes the words of bits of a row: lanes 0 and 1 of four have rows g and g + 8.
struct OwnWords {
  uint32_t* words;  // from the first on
  bool is_there;    // whether it is the lane that writes, and the row has a pixel

  // `pixel` is the lane's first, `word` the first that a lane's fragments have.
  LE_DEVICE static OwnWords At(const Bconv2dArgs& a, int pixel, int pixels, int word, int lane) {
    const int own = pixel + 8 * (lane % 4);
    const int64_t words = a.out_channels / kWarp;
    return {OutputBits(a) + (own * words + word), lane % 4 < kOwnRows && own < pixels};
  }

  // Writes word `i` of what lanes found for both rows. All lanes of the warp call it.
  LE_DEVICE void Store(int i, int lane, const uint32_t (&bits)[kOwnRows]) const {
    // Each of two neighbours gives the other what it has of its row, and pairs do so as well.
    const int shift = lane % 4 * 2;
    const bool has_second = lane % 2 == 1;
    uint32_t own = (has_second ? bits[1] : bits[0]) << shift;
    own |= __shfl_xor_sync(~0u, (has_second ? bits[0] : bits[1]) << shift, 1);
    own |= __shfl_xor_sync(~0u, own, 2);
    if (is_there) words[i] = own;
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_OWN_H_
