// Values and weights of several bits, which are planes of +-1 values of which number j counts 2^j:
// a convolution of them is one of bits for each pair of planes.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PLANES_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_PLANES_H_

#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/device.h"

namespace larq_engine::cuda {

// A plane of the image and one of the filters. Their products count 2^(image + filter).
struct PlanePair {
  int image;
  int filter;

  // The pair that counts most. Those that count less follow.
  LE_DEVICE static PlanePair First(const Bconv2dArgs& a) {
    return {a.bits_in - 1, a.bits_weights - 1};
  }
  LE_DEVICE bool IsThere() const { return filter >= 0; }
  LE_DEVICE bool IsLast() const { return image + filter == 0; }

  // To the next pair. Returns whether that is there and counts half as much: then what was summed
  // up to here has to be doubled, and so each pair's products are in the end as often in the sum as
  // they count.
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

// Fragments' registers.
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
