// Holds the sums of one tile of a product, which become bits by thresholds while the next tile is
// multiplied.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HELD_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HELD_H_

#include "larq_engine/kernels/cuda/bconv2d_fragments.h"

namespace larq_engine::cuda {

// A lane's sums of 16 rows and kN columns, two to a register: the products that are under way leave
// no more registers.
template <int kN>
struct HeldSums {
  static constexpr int kMost = 0xffff;  // the greatest number that half a register holds

  uint32_t pairs[kN / 4];
  BlockPlace block;
  bool are_there = false;

  LE_DEVICE static bool CanHold(const Bconv2dArgs& a) {
    return FinishesInRegisters(a) && a.output.epilogue == Bconv2dOutput::kThreshold &&
           Depth(a) <= kMost;
  }

  // Stores the sums in `c`, which has register e of fragment j at 4 j + e.
  LE_DEVICE void Take(const BlockPlace& place, const int32_t (&c)[kN / 2]) {
    LE_UNROLL
    for (int i = 0; i < kN / 4; ++i) {
      pairs[i] = static_cast<uint32_t>(c[2 * i]) + (static_cast<uint32_t>(c[2 * i + 1]) << 16);
    }
    block = place;
    are_there = true;
  }

  // Makes the bits of the held sums, if there are any. All lanes of the warp must call it. The rows
  // begin at `row` of the block, and ones(row) returns the ones of a row.
  template <class Ones>
  LE_DEVICE void Finish(const Bconv2dArgs& a, int row, const EpilogueConstants<kN>& constants,
                        const Ones& ones) {
    if (!are_there) return;
    FinishLaneBits<1, kN / 8>(
        a, block, row, 0, constants, RowsInOrder(a, block),
        [&](int, int j, int e, int32_t lane_ones, int32_t limit) {
          const uint32_t twice = e % 2 == 0 ? 0x0002 : 0x0200;  // the low half, or the high one
          const uint32_t sum = __dp2a_lo(pairs[2 * j + e / 2], twice, static_cast<uint32_t>(limit));
          return static_cast<int32_t>(sum) < lane_ones;
        },
        ones);
    are_there = false;
  }
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_HELD_H_
