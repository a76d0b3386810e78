// Binary convolution on the tensor cores of compute capability 7.5, which count the bits that
// differ: taps outside the image are zeros, and the sum less the ones of the filter is `excess` of
// Bconv2dOutput. A warp computes 32 pixels and 32 channels. As in bconv2d_small.h, lanes load
// neighbouring words straight into registers; the warps of a block find in the L1 cache what the
// others have loaded.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA8_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA8_H_

#include "larq_engine/kernels/cuda/bconv2d_planes.h"
#include "larq_engine/kernels/cuda/bconv2d_window.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

template <Mma8Tile kTile>
LE_DEVICE void Bconv2dMma8(const Bconv2dArgs& a) {
  if constexpr (kHasMmaXor) {
    constexpr int kFragments = kWarp / 8;
    constexpr int kWords = kTile.load_words;
    constexpr int kStepWords = 4 * kWords;
    LE_SHARED_DYNAMIC(shared);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int g = lane / 4;
    const int t = lane % 4;

    // Neighbouring blocks have the same pixels, as in bconv2d_mma.h.
    const int group_tiles = (a.group_out_channels + Mma8Tile::kSize - 1) / Mma8Tile::kSize;
    const int tiles = a.out_channels / a.group_out_channels * group_tiles;
    const int block = static_cast<int>(blockIdx.x);
    const int tile = block % tiles;
    const int group = tile / group_tiles;
    const int m0 = block / tiles * Mma8Tile::kSize + warp % 2 * kWarp;
    const int n0 = tile % group_tiles * Mma8Tile::kSize + warp / 2 * kWarp;  // in the group
    if (n0 >= a.group_out_channels) return;
    const int first_channel = group * a.group_out_channels + n0;
    const int channels = a.group_out_channels - n0;

    TapWindow windows[kFragments];
    MakeTapWindows(a, m0 + g, 8, group * a.tap_words, windows);
    const int64_t first_word =
        static_cast<int64_t>(first_channel + g) * a.filter_words + kWords * t;
    const DepthPlace first = DepthPlace::At(a, kWords * t);
    const DepthPlace step = DepthPlace::At(a, kStepWords);
    const int depth_words = a.filter_height * a.filter_width * a.tap_words;

    XorFragmentC c[kFragments][kFragments] = {};
    for (PlanePair pair = PlanePair::First(a); pair.IsThere();) {
      const uint32_t* const image = pair.Image(a);
      const uint32_t* const filter = pair.Filter(a) + first_word;
      DepthPlace place = first;
      for (int k = 0; k < depth_words; k += kStepWords) {
        using Words = LoadedWords<kWords>;
        Words pixels[kFragments] = {};
        Words filters[kFragments] = {};
        const uint32_t tap_bits = place.TapBits(a);
        const int offset = place.Offset(a);
        LE_UNROLL
        for (int i = 0; i < kFragments; ++i) {
          if (windows[i].Has(tap_bits)) {
            pixels[i] = *reinterpret_cast<const Words*>(image + (windows[i].offset + offset));
          }
          if (8 * i + g < channels) {
            filters[i] = *reinterpret_cast<const Words*>(
                filter + static_cast<int64_t>(8 * i) * a.filter_words + k);
          }
        }
        place.Advance(a, step);
        LE_UNROLL
        for (int w = 0; w < kWords; ++w) {
          LE_UNROLL
          for (int i = 0; i < kFragments; ++i) {
            LE_UNROLL
            for (int j = 0; j < kFragments; ++j) MmaXor(c[i][j], pixels[i].w[w], filters[j].w[w]);
          }
        }
      }
      if (pair.Advance(a)) Double(c);
    }

    // The lanes exchange their sums so that each lane has one channel, as in FinishExchanged.
    int32_t(*const exchange)[Mma8Tile::kPitch] =
        reinterpret_cast<int32_t(*)[Mma8Tile::kPitch]>(shared) + kWarp * warp;
    LE_UNROLL
    for (int i = 0; i < kFragments; ++i) {
      LE_UNROLL
      for (int e = 0; e < 2 * kFragments; ++e) {
        exchange[8 * i + g][8 * (e / 2) + 2 * t + e % 2] = c[i][e / 2].r[e % 2];
      }
    }
    __syncwarp();
    const int pixels = a.batch * a.out_height * a.out_width;
    const int32_t filter_ones = lane < channels ? a.filter_ones[first_channel + lane] : 0;
    constexpr int kRows = 4;
    LE_NO_UNROLL
    for (int r = 0; r < kWarp && m0 + r < pixels; r += kRows) {
      int32_t excess[kRows];
      LE_UNROLL
      for (int i = 0; i < kRows; ++i) excess[i] = exchange[r + i][lane] - filter_ones;
      const int left = pixels - m0 - r;
      FinishWords(a, m0 + r, left < kRows ? left : kRows, first_channel / kWarp, lane,
                  lane < channels, excess);
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_MMA8_H_
