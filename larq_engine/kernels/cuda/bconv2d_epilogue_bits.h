// Makes bits by thresholds (Bconv2dOutput::kThreshold) from the fragments of a product.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_BITS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_BITS_H_

#include "larq_engine/kernels/cuda/bconv2d_epilogue_inputs.h"
#include "larq_engine/kernels/cuda/bconv2d_lane.h"
#include "larq_engine/kernels/cuda/bconv2d_stages.h"

namespace larq_engine::cuda {

// Turns all fragments of a warp's sums into bits by thresholds: see FinishFragments. Each lane
// finds the bits of the sums that it holds; the code is short, so that all of it is unrolled.
// exceeds(i, j, e, ones, limit) tells whether `excess` of Bconv2dOutput, from the sum in register e
// of fragment (i, j) and the ones of its row, is greater than the channel's limit.
template <int kFragmentsM, int kFragmentsN, int kN, class Rows, class Exceeds, class Ones>
LE_DEVICE void FinishLaneBits(const Bconv2dArgs& a, const BlockPlace& block, int row, int column,
                              const EpilogueConstants<kN>& constants, const Rows& rows,
                              const Exceeds& exceeds, const Ones& ones) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int lane_row = row + lane / 4;
  const int first_word = (block.first_channel + block.n0 + column) / kWarp;
  int32_t lane_ones[kFragmentsM][kLaneRows];
  LaneWords lane_words[kFragmentsM];
  LE_UNROLL
  for (int i = 0; i < kFragmentsM; ++i) {
    LE_UNROLL
    for (int h = 0; h < kLaneRows; ++h) lane_ones[i][h] = ones(lane_row + 16 * i + 8 * h);
    const PixelRun run = rows(row + 16 * i);
    lane_words[i] = LaneWords::At(a, run.first + lane / 4, run.end, first_word, lane);
  }
  LE_UNROLL
  for (int j = 0; j < kFragmentsN; j += 4) {
    const int n = block.n0 + column + 8 * j;  // in the group
    if (n >= a.group_out_channels) break;     // the whole warp
    const int32_t* const lane_limits = constants.integers + column + 8 * j + lane % 4 * 2;
    int32_t limits[2][kLaneChannels];
    LoadLaneChannels(lane_limits, limits[0]);
    LoadLaneChannels(lane_limits + 16, limits[1]);
    LE_UNROLL
    for (int i = 0; i < kFragmentsM; ++i) {
      uint32_t bits[kLaneRows] = {};
      LE_UNROLL
      for (int k = 0; k < 4; ++k) {
        LE_UNROLL
        for (int e = 0; e < 4; ++e) {
          const int32_t limit = limits[k / 2][k % 2 * 2 + e % 2];
          if (exceeds(i, j + k, e, lane_ones[i][e / 2], limit)) {
            bits[e / 2] |= 1u << (8 * k + e % 2);
          }
        }
      }
      lane_words[i].Store(j / 4, lane, bits);
    }
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_EPILOGUE_BITS_H_
