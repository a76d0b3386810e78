// Binary convolution of few pixels on tensor cores, whose time is mostly waiting. A block computes
// 16 pixels and 16 channels, and each warp takes a part of the depth. Registers are filled straight
// from global memory, and no load waits for another that it does not need: first come the inputs of
// the epilogue and the filter's words, then the places in the image are found, and all words of a
// step are loading before its products begin. The depth may be in any order that both sides share,
// so a lane loads neighbouring words and uses them in the place of those that its fragments ask
// for.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_SMALL_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_SMALL_H_

#include "larq_engine/kernels/cuda/bconv2d_planes.h"
#include "larq_engine/kernels/cuda/bconv2d_products.h"
#include "larq_engine/kernels/cuda/bconv2d_window.h"

namespace larq_engine::cuda {

// A lane's words of two rows, g and g + 8 of a fragment.
template <SmallTile kTile>
struct SmallRows {
  static constexpr int kStepWords = kTile.step_words();
  static constexpr int kWords = kStepWords / 4;
  uint32_t w[2][kWords];

  LE_DEVICE void Load(int row, int at, const uint32_t* from) {
    const auto words = *reinterpret_cast<const LoadedWords<kTile.load_words>*>(from);
    LE_UNROLL
    for (int i = 0; i < kTile.load_words; ++i) w[row][at + i] = words.w[i];
  }
};

template <SmallTile kTile, class Products>
LE_DEVICE void Bconv2dSmall(const Bconv2dArgs& a) {
  if constexpr (Products::kAreThere) {
    constexpr int kSize = SmallTile::kSize;
    constexpr int kStepWords = SmallRows<kTile>::kStepWords;
    constexpr int kWords = SmallRows<kTile>::kWords;
    LE_SHARED_DYNAMIC(shared);
    // [warps][16 pixels][16 channels]: the pixel's ones less twice the ones in common.
    int32_t* const partial = reinterpret_cast<int32_t*>(shared);
    const int thread = static_cast<int>(threadIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    const int lane = thread % kWarp;
    const int warp = thread / kWarp;
    const int g = lane / 4;
    const int t = lane % 4;

    const int halves = a.divisors.half_words.value;
    const Divided<int32_t> block = Divide(static_cast<int>(blockIdx.x), a.divisors.half_words);
    const int half = block.rest;
    const int m0 = block.quotient * kSize;
    const int n0 = half * kSize;
    const int pixels = a.batch * a.out_height * a.out_width;
    // The high half of the last word may hold no channel: the block then only writes its bits.
    const bool has_channels = n0 < a.out_channels;
    const int group =
        has_channels && a.group_out_channels < a.out_channels ? n0 / a.group_out_channels : 0;

    // The inputs of this thread's values, which all have the same channel.
    const int lane_channel = n0 + thread % kSize;
    RowInputs<1> inputs[SmallTile::kValues] = {};
    LE_UNROLL
    for (int v = 0; v < SmallTile::kValues; ++v) {
      const int i = thread + v * threads;
      const int pixel = m0 + i / kSize;
      if (i < kSize * kSize && pixel < pixels && lane_channel < a.out_channels) {
        inputs[v] = LoadRowInputs<1>(a, pixel, 1, lane_channel);
      }
    }

    const int depth_words = has_channels ? a.filter_height * a.filter_width * a.tap_words : 0;
    const int parts = (depth_words + kStepWords - 1) / kStepWords;
    const int part_warps = parts < threads / kWarp ? parts : threads / kWarp;
    SmallRows<kTile> channels;
    const auto load_channels = [&](const uint32_t* filter, int k) {
      channels = {};
      LE_UNROLL
      for (int at = 0; at < kWords; at += kTile.load_words) {
        LE_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int channel = n0 + 8 * i + g;
          if (channel >= a.out_channels || k >= depth_words) continue;
          channels.Load(
              i, at, filter + static_cast<int64_t>(channel) * a.filter_words + k + kWords * t + at);
        }
      }
    };
    const int first = warp * kStepWords;
    const int step = part_warps * kStepWords;
    PlanePair pair = PlanePair::First(a);
    load_channels(pair.Filter(a), first);

    TapWindow windows[2];
    MakeTapWindows(a, m0 + g, 8, group * a.tap_words, windows);

    FragmentC c[1][2] = {};
    int ones[2] = {};
    while (pair.IsThere()) {
      const uint32_t* const image = pair.Image(a);
      const uint32_t* const filter = pair.Filter(a);
      for (int k = first; k < depth_words; k += step) {
        SmallRows<kTile> pixel_rows = {};
        LE_UNROLL
        for (int at = 0; at < kWords; at += kTile.load_words) {
          const DepthPlace place = DepthPlace::At(a, k + kWords * t + at);
          LE_UNROLL
          for (int i = 0; i < 2; ++i) {
            if (windows[i].Has(place.TapBits(a))) {
              pixel_rows.Load(i, at, image + (windows[i].offset + place.Offset(a)));
            }
          }
        }
        LE_UNROLL
        for (int at = 0; at < kWords; at += 2) {
          LE_UNROLL
          for (int i = 0; i < 2; ++i) {
            ones[i] += __popc(pixel_rows.w[i][at]) + __popc(pixel_rows.w[i][at + 1]);
          }
          const FragmentA rows[1] = {{{pixel_rows.w[0][at], pixel_rows.w[1][at],
                                       pixel_rows.w[0][at + 1], pixel_rows.w[1][at + 1]}}};
          const uint32_t columns[4] = {channels.w[0][at], channels.w[0][at + 1], channels.w[1][at],
                                       channels.w[1][at + 1]};
          Products::Add(c, 0, rows, columns);
        }
        if (k + step < depth_words) load_channels(filter, k + step);
      }
      const bool counts_less = pair.Advance(a);
      if (pair.IsThere()) load_channels(pair.Filter(a), first);
      if (!counts_less) continue;
      Double(c);
      ones[0] *= 2;
      ones[1] *= 2;
    }
    LE_UNROLL
    for (int i = 0; i < 2; ++i) {
      ones[i] += __shfl_xor_sync(~0u, ones[i], 1);
      ones[i] += __shfl_xor_sync(~0u, ones[i], 2);
    }
    if (warp < part_warps) {
      LE_UNROLL
      for (int i = 0; i < 2; ++i) {
        LE_UNROLL
        for (int e = 0; e < 4; ++e) {
          const int row = (warp * kSize + g + 8 * (e / 2)) * kSize;
          partial[row + 8 * i + 2 * t + e % 2] = ones[e / 2] - 2 * c[0][i].r[e];
        }
      }
    }
    __syncthreads();

    // A warp has two pixels at a time.
    LE_NO_UNROLL
    for (int v = 0; v < SmallTile::kValues; ++v) {
      const int i = thread + v * threads;
      if (i >= kSize * kSize) break;
      const int pixel = m0 + i / kSize;
      RowInputs<1> own = inputs[0];
      if (v > 0) own = inputs[1];  // only constants can index registers
      uint32_t bits[1] = {0};
      if (pixel < pixels && lane_channel < a.out_channels) {
        int32_t excess[1] = {0};
        for (int w = 0; w < part_warps; ++w) excess[0] += partial[w * kSize * kSize + i];
        FinishRows(a, pixel, 1, lane_channel, own, excess, bits);
      }
      if (OutputBits(a) == nullptr) continue;
      for (int plane = 0; plane < OutputPlanes(a); ++plane) {
        const uint32_t both = __ballot_sync(~0u, bits[0] >> plane & 1u);
        if (i % kSize == 0 && pixel < pixels) {
          const int64_t at = static_cast<int64_t>(pixel) * OutputPlanes(a) + plane;
          StoreHalfWord(OutputBits(a), at * halves + half,
                        static_cast<uint16_t>(both >> (lane & kSize)));
        }
      }
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_SMALL_H_
