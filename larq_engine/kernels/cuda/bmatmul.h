// Products of two computed matrices of bits (bmatmul_spec.h). A warp computes 32 columns of a row.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BMATMUL_H_
#define LARQ_ENGINE_KERNELS_CUDA_BMATMUL_H_

#include "larq_engine/kernels/cuda/divide.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

// Multiplies a row of the left side with a row of the right side, each of a.words words.
LE_DEVICE float MultiplyRows(const BmatmulArgs& a, const uint32_t* left, const uint32_t* right) {
  int different = 0, left_minus = 0, right_minus = 0;
  for (int w = 0; w < a.words; ++w) {
    const uint32_t used = w + 1 < a.words ? ~0u : a.last_word;
    const uint32_t s = left[w] & used, t = right[w] & used;
    different += __popc(s ^ t);
    left_minus += __popc(s);
    right_minus += __popc(t);
  }
  const auto sum = [&](int minus) { return static_cast<float>(a.depth - 2 * minus); };
  const float of_column = (a.of_right != 0 ? sum(right_minus) * a.of_right : 0.0f) + a.constant;
  const float y = sum(different) * a.of_dot + of_column;
  return a.of_left != 0 ? y + sum(left_minus) * a.of_left : y;
}

LE_DEVICE void Bmatmul(const BmatmulArgs& a) {
  const WarpPart part = MyWarpPart(a.columns);
  if (part.pixel >= a.pixels) return;
  const int column = part.word * kWarp + part.lane;
  Values<1> y = {0.0f};
  if (part.inside) {
    const int64_t matrix = Divide(part.pixel, a.rows).quotient;
    y.v[0] = MultiplyRows(a, a.left + part.pixel * a.words,
                          a.right + (matrix * a.columns + column) * a.words);
  }
  FinishValues(a.program, y, {part.pixel, column, part.inside}, a.columns);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BMATMUL_H_
