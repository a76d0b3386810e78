// The contract of the products of floats, for every micro-kernel of every ISA:
//
//   of_pixels:     out[i][j] = clamp(sum over k of lhs(i, k) * rhs(j, k) + bias[j])
//   of_channels:   out[i][j] = clamp(sum over t of lhs(i, t * n + j) * rhs(j, t) + bias[j])
//
// for i < m, j < n: a convolution over all channels, and one over each channel by itself
// (depthwise). A sum begins with 0 and grows in the order of k or t, by one fused multiply-add
// each, which rounds once. Then the bias is added. So rows agree bit for bit, also with the kernels
// for GPUs (cuda/conv2d.h, depthwise.h). The sign and payload of a NaN are open.
//
// tests/kernels/float_product_test.cc has a test for each clause:
//
// 1. Tile:       1 <= m <= kFloatPixels and 1 <= n, any n. out[0..m)[0..n) is written and no more.
// 2. Segments:   the left side is as in bgemm.h (LhsRun of operands.h), but of floats, with
// kFloatPixels entries
//                for each run. of_channels: a run is whole taps, of n floats each. If pixel_step
//                is not 0, each pixel's run begins pixel_step floats after the run of the pixel
//                before it, in every segment, and `lhs` agrees with that. Runs may overlap.
// 3. RightSide:  `rhs` and `bias` are aligned to 64 bytes and filled up with zeros to a multiple
//                of kFloatLanes columns. of_pixels: blocks of nr columns, the last of which has the
//                columns that are left; for each k a block has its columns side by side.
//                of_channels: for each t all columns are side by side.
// 4. Parts:      in of_pixels the columns from any multiple of nr on are a valid right side.
// 5. Reads:      nothing is read outside the runs and the right side. Runs are 4-byte aligned.
// 6. Clamp:      as FloatRange says; NaN stays.
//
// This header has plain data and plain functions only: an ISA's file shares no code with others.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PRODUCT_H_
#define LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PRODUCT_H_

#include <cstddef>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/kernels/common/operands.h"

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
  size_t pixel_step;     // see clause 2
  const float* rhs;
  const float* bias;
  FloatRange range;
  float* out;
  size_t out_stride;  // floats from one pixel to the next
};

using FloatFn = void (*)(const FloatArgs& args);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_FLOAT_PRODUCT_H_
