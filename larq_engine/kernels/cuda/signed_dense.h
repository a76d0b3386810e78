// Dense layers whose weights are +-1 and whose inputs are floats, in the order of
// kernels/signed_sums.h: a warp has 32 outputs of a few rows.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_
#define LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Inputs i to i + 3 of a row, where i is a multiple of 4: those behind the last one are 0.
LE_DEVICE Values<4> FourInputs(const float* row, int i, int depth) {
  if (depth % 4 == 0) return LoadValues<4>(row + i);
  Values<4> four;
  LE_UNROLL
  for (int d = 0; d < 4; ++d) four.v[d] = i + d < depth ? row[i + d] : 0.0f;
  return four;
}

// The value, or its negative where that bit of the word is 1.
LE_DEVICE float Signed(float value, uint32_t bits, int bit) {
  return __uint_as_float(__float_as_uint(value) ^ (bits << (31 - bit) & 0x80000000u));
}

LE_DEVICE void SignedDense(const SignedDenseArgs& a) {
  const WarpPart part = MyWarpPart(a.units);
  const int64_t first = part.pixel * kSignedDenseRows;
  if (first >= a.rows) return;
  const float* rows[kSignedDenseRows];
  LE_UNROLL
  for (int r = 0; r < kSignedDenseRows; ++r) {
    // Rows behind the last one are summed as that, and not stored.
    const int64_t row = first + r < a.rows ? first + r : a.rows - 1;
    rows[r] = a.in + row * a.depth;
  }
  const int unit = part.word * kWarp + part.lane;
  const int lanes = (a.units + kWarp - 1) / kWarp * kWarp;
  float sums[kSignedDenseRows] = {};
  const uint32_t* signs = a.signs + unit;
  for (int i = 0; i < a.depth; i += kWarp, signs += lanes) {
    uint32_t bits = *signs;
    const int end = i + kWarp < a.depth ? i + kWarp : a.depth;
    LE_NO_UNROLL
    for (int k = i; k < end; k += 4, bits >>= 4) {
      LE_UNROLL
      for (int r = 0; r < kSignedDenseRows; ++r) {
        const Values<4> x = FourInputs(rows[r], k, a.depth);
        float four = Signed(x.v[0], bits, 0);
        LE_UNROLL
        for (int d = 1; d < 4; ++d) four += Signed(x.v[d], bits, d);
        sums[r] += four;
      }
    }
  }
  // What follows is long, so it is there once: the sums move up in place of an index.
  LE_NO_UNROLL
  for (int r = 0; r < kSignedDenseRows && first + r < a.rows; ++r) {
    const Values<1> y = {part.inside ? sums[0] * a.scale[unit] : 0.0f};
    FinishValues(a.program, y, {first + r, unit, part.inside}, a.units);
    LE_UNROLL
    for (int next = 1; next < kSignedDenseRows; ++next) sums[next - 1] = sums[next];
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SIGNED_DENSE_H_
