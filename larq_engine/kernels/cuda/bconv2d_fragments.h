// From fragments of a product, as tensor cores leave them in registers, to a convolution's output.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"

namespace larq_engine::cuda {

// Where the lanes of a warp exchange values, so that a lane has a channel and a warp writes a whole
// row of 32. 8-byte writes of 4 rows at once go to different banks.
struct Corner {
  int32_t values[16][40];
};

// From sums of products to the output, of 32 channels from `channel` on and of kPixels from `pixel`
// on, which are not all behind the last. Of pixel k the lane has sum(k), and the pixel has ones(k).
template <int kPixels, bool kMayBeOutside, class Sum, class Ones>
LE_DEVICE void FinishSums(const Bconv2dArgs& a, int pixel, int pixels, int channel, int lane,
                          bool inside, int filter_ones, const Sum& sum, const Ones& ones) {
  int32_t acc[kPixels];
  LE_UNROLL
  for (int k = 0; k < kPixels; ++k) acc[k] = filter_ones - 2 * sum(k) + ones(k);
  const int rows = pixels - pixel < kPixels ? pixels - pixel : kPixels;
  FinishWords<kMayBeOutside>(a, pixel, rows, channel / kWarp, lane, inside, acc);
}

// A warp's fragments of 16 rows and 8 columns, the first at `row` and `column` of the block.
// value(i, j, e) is register e of a fragment, ones(row) the ones of a row of the block.
template <int kFragmentsM, int kFragmentsN, class Value, class Ones>
LE_DEVICE void FinishFragments(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                               Corner& corner, const Value& value, const Ones& ones) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int pixels = a.batch * a.out_height * a.out_width;
  constexpr int kWords = kFragmentsN / 4;  // of channels
  // One copy of the code for all fragments, which unrolled is more than a cache of instructions.
  LE_NO_UNROLL
  for (int chunk = 0; chunk < kFragmentsM * kWords; ++chunk) {
    __syncwarp();
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      LE_UNROLL
      for (int j = 0; j < kWords; ++j) {
        if (chunk != i * kWords + j) continue;
        LE_UNROLL
        for (int e = 0; e < 16; ++e) {
          corner.values[lane / 4 + 8 * (e % 4 / 2)][8 * (e / 4) + 2 * (lane % 4) + e % 2] =
              value(i, 4 * j + e / 4, e % 4);
        }
      }
    }
    __syncwarp();
    const int n = block.n0 + column + chunk % kWords * kWarp;  // in the group
    if (n >= a.group_out_channels) continue;                   // the whole warp
    const bool inside = n + lane < a.group_out_channels;
    const int channel = block.first_channel + n;
    const int filter_ones = inside ? a.filter_ones[channel + lane] : 0;
    const int first_row = row + chunk / kWords * 16;
    constexpr int kRows = 4;  // at once: more need more registers
    LE_NO_UNROLL
    for (int r = 0; r < 16; r += kRows) {
      const int pixel = block.m0 + first_row + r;
      if (pixel >= pixels) break;
      FinishSums<kRows, true>(
          a, pixel, pixels, channel, lane, inside, filter_ones,
          [&](int k) { return corner.values[r + k][lane]; },
          [&](int k) { return ones(first_row + r + k); });
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_FRAGMENTS_H_
