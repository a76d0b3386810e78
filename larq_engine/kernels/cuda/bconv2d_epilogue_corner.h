// Any output, from fragments of a product that the lanes of a warp exchange.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_CORNER_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_CORNER_H_

#include "larq_engine/kernels/cuda/bconv2d_own.h"

namespace larq_engine::cuda {

// The lanes of a warp exchange values here, so that a lane has a channel and a warp writes a whole
// row of 32. 8-byte writes of 4 rows at once go to different banks.
struct Corner {
  int32_t values[16][40];
};

// Puts two fragments of sums, as above, where other lanes find them.
LE_DEVICE void PutIntoCorner(Corner& corner, int column, int lane,
                             const int32_t (&sums)[kOwnSums]) {
  LE_UNROLL
  for (int e = 0; e < kOwnSums; ++e) {
    const int row = lane / 4 + 8 * (e % 4 / 2);
    corner.values[row][column + 8 * (e / 4) + 2 * (lane % 4) + e % 2] = sums[e];
  }
}

// From a word of channels of 16 pixels' sums to the output, any output: a lane has a channel.
// `pixel` and `channel` are the first, `channels` how many are left; ones(row) are a pixel's.
template <bool kMayBeOutside, class Ones>
LE_DEVICE void FinishCorner(const Bconv2dArgs& a, int pixel, int pixels, int channel, int channels,
                            int lane, const Corner& corner, const Ones& ones) {
  const bool inside = lane < channels;
  constexpr int kRows = 4;  // at once: more need more registers
  LE_NO_UNROLL
  for (int r = 0; r < 16; r += kRows) {
    if (pixel + r >= pixels) break;
    int32_t more[kRows];
    LE_UNROLL
    for (int k = 0; k < kRows; ++k) more[k] = Dot(ones(r + k), corner.values[r + k][lane]);
    const int rows = pixels - pixel - r < kRows ? pixels - pixel - r : kRows;
    FinishWords<kMayBeOutside>(a, pixel + r, rows, channel / kWarp, lane, inside, more);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_CORNER_H_
