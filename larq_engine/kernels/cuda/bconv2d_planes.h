// Values and weights of several bits are planes of +-1 values, of which plane j counts 2^j. Their
// convolution is a weighted sum of convolutions of bits, one for each pair of planes.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PLANES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PLANES_H_

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/device.h"

namespace larq_engine::cuda {

// A plane of the image and a plane of the filters. Their products count 2^(image + filter).
struct PlanePair {
  int image;
  int filter;

  // Returns the pair that counts most. Advance then goes to pairs that count less.
  LE_DEVICE static PlanePair First(const Bconv2dArgs& a) {
    return {a.bits_in - 1, a.bits_weights - 1};
  }
  LE_DEVICE bool IsThere() const { return filter >= 0; }
  LE_DEVICE bool IsLast() const { return image + filter == 0; }

  // Goes to the next pair. Returns true if there is one and it counts half as much as this one: the
  // caller then doubles the sum so far, so that in the end each pair's products are weighted by
  // 2^(image + filter).
  LE_DEVICE bool Advance(const Bconv2dArgs& a) {
    if (image + 1 < a.bits_in && filter > 0) {
      ++image;
      --filter;
      return false;
    }
    const int both = image + filter - 1;
    image = both < a.bits_weights ? 0 : both - a.bits_weights + 1;
    filter = both - image;
    return IsThere();
  }

  LE_DEVICE const uint32_t* Image(const Bconv2dArgs& a) const {
    return a.image + static_cast<int64_t>(image) * a.plane_words;
  }
  LE_DEVICE const uint32_t* Filter(const Bconv2dArgs& a) const {
    return a.filter + static_cast<int64_t>(filter) * a.out_channels * a.filter_words;
  }
};

// Doubles the sums in the registers of fragments.
template <class Fragment, int kRows, int kColumns>
LE_DEVICE void Double(Fragment (&c)[kRows][kColumns]) {
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    LE_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      LE_UNROLL
      for (auto& sum : c[i][j].r) sum *= 2;
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PLANES_H_
