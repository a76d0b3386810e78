// Functions that rows of bytes for 64-bit ARM share, all internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_TILE_H_
#define LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_TILE_H_

#include <arm_neon.h>

#include "larq_engine/kernels/bytes/byte_product.h"

namespace larq_engine {
namespace {

// Calls `multiply` for all pixels: with a number of pixels, at most kMost, as its template
// argument, and the first of them.
template <int kMost, typename Multiply>
inline void ForPixels(size_t pixels, const Multiply& multiply) {
  size_t first = 0;
  for (; first + kMost <= pixels; first += kMost) multiply.template operator()<kMost>(first);
  if constexpr (kMost > 1) {
    if (first == pixels) return;
    ForPixels<kMost - 1>(
        pixels - first, [&]<int kPixels>(size_t) { multiply.template operator()<kPixels>(first); });
  }
}

inline const int8_t* LeftRow(const ByteArgs& args, size_t pixel) {
  return reinterpret_cast<const int8_t*>(args.lhs) + pixel * args.lhs_stride;
}

// Stores the first `count` of four sums, or all if there are fewer.
inline void StoreSums(int32_t* to, size_t count, int32x4_t sums) {
  if (count >= 4) return vst1q_s32(to, sums);
  if (count >= 2) vst1_s32(to, vget_low_s32(sums));
  if (count == 1) vst1q_lane_s32(to, sums, 0);
  if (count == 3) vst1q_lane_s32(to + 2, sums, 2);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_ARM64_BYTE_TILE_H_
