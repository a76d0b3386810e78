// The contract of the products of floats, for every micro-kernel of every ISA:
//
//   of_pixels:     out[i][j] = clamp(sum over k of lhs(i, k) * rhs(j, k) + bias[j])
//   of_channels:   out[i][j] = clamp(sum over t of lhs(i, t * n + j) * rhs(j, t) + bias[j])
//
// for i < m, j < n: a convolution, and one of each channel by itself (depthwise). A sum begins with
// 0 and grows in the order of k or t, by a fused multiply-add each, which rounds once. Then comes
// the bias. So rows agree bit for bit, and with the kernels for GPUs (cuda/conv2d.h, depthwise.h);
// of a NaN, sign and payload are open.
//
// tests/kernels/float_product_test.cc has a test for each clause:
//
// 1. Tile:       1 <= m <= kFloatPixels and 1 <= n, any n. out[0..m)[0..n) is written and no more.
// 2. Segments:   the left side is as in bgemm.h (LhsRun), of floats, with kFloatPixels entries for
//                each run. of_channels: a run is whole taps, of n floats each. pixel_step is 0,
//                or in each segment the run of a pixel begins so many floats after that of the
//                pixel before, and `lhs` says the same.
// 3. RightSide:  `rhs` and `bias` are aligned to 64 bytes and filled up with zeros to a multiple
//                of kFloatLanes columns. of_pixels: blocks of nr columns, of which the last has as
//                many as are left; a block has its columns side by side for each k. of_channels:
//                all columns side by side for each t.
// 4. Parts:      of of_pixels the columns from a multiple of nr on are a right side of their own.
// 5. Reads:      nothing is read outside the runs and the right side. Runs are 4-byte aligned.
// 6. Clamp:      as FloatRange says; NaN stays.
//
// Plain data and plain functions: an ISA's file shares no code with others.
#ifndef LARQ_ENGINE_KERNELS_FLOAT_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_FLOAT_PRODUCT_H_

#include <cstddef>

#include "larq_engine/kernels/bgemm.h"
#include "larq_engine/kernels/float_range.h"

namespace larq_engine {

inline constexpr size_t kFloatPixels = 12;
inline constexpr size_t kFloatLanes = 16;

struct FloatArgs {
  size_t m;
  size_t n;
  size_t segments;
  size_t segment_words;
  const float* lhs_base;
  const ptrdiff_t* lhs;  // [segments][kFloatPixels]
  size_t pixel_step;     // clause 2
  const float* rhs;
  const float* bias;
  FloatRange range;
  float* out;
  size_t out_stride;  // floats from one pixel to the next
};

using FloatFn = void (*)(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOAT_PRODUCT_H_
