// The tile that the rows for 64-bit ARM share: 4 pixels by 16 columns, 64 bits of depth a step.
// Everything here is internal to the file that includes it: a copy compiled with ISA flags must
// never be merged with the copy of another ISA.
//
// A vector of the right side holds 64 bits of two neighbouring columns; the 64 bits of a pixel are
// loaded into both halves of a vector. Counts of bits are bytes, and adding neighbouring bytes
// (ADDP) of two vectors keeps columns in order:
//
//   right     | column 0 . . . . . . . | column 1 . . . . . . . |   and | column 2 | column 3 |
//   xor, cnt  | 0 0 0 0 0 0 0 0        | 1 1 1 1 1 1 1 1        |       | 2 ...    | 3 ...    |
//   addp      | 0 0 0 0 | 1 1 1 1 | 2 2 2 2 | 3 3 3 3 |                 four bytes a column
//   addp      | 0 0 | 1 1 | 2 2 | 3 3 | 4 4 | 5 5 | 6 6 | 7 7 |         two bytes a column
//
// So each vector costs one XOR, one count and one addition, whatever adds up the rest, and no
// shuffle is needed at the end.
#ifndef LARQ_ENGINE_KERNELS_ARM64_BGEMM_TILE_H_
#define LARQ_ENGINE_KERNELS_ARM64_BGEMM_TILE_H_

#include <arm_neon.h>

#include <cstring>

#include "larq_engine/kernels/bgemm.h"

namespace larq_engine {
namespace {

inline constexpr int kTileRows = 4;
inline constexpr size_t kTileCols = 16;
inline constexpr size_t kStepWords = 2;

// 64 bits of a pixel, twice. Runs are only 4-byte aligned, which the load does not mind.
inline uint8x16_t LoadLeft(const uint32_t* words) {
  return vreinterpretq_u8_u64(vld1q_dup_u64(reinterpret_cast<const uint64_t*>(words)));
}

// The ones of four columns in which the pixel differs, four bytes a column. `right` is two vectors.
inline uint8x16_t CountFour(uint8x16_t left, uint8x16_t right01, uint8x16_t right23) {
  return vpaddq_u8(vcntq_u8(veorq_u8(left, right01)), vcntq_u8(veorq_u8(left, right23)));
}

inline uint8x16_t LoadRight(const uint32_t* rhs, int vector) {
  return vreinterpretq_u8_u32(vld1q_u32(rhs + 4 * vector));
}

// Writes the first `cols` of 16 columns.
inline void StoreColumns(int32_t* to, const uint32x4_t (&count)[4], size_t cols) {
  if (cols >= kTileCols) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) vst1q_s32(to + 4 * v, vreinterpretq_s32_u32(count[v]));
    return;
  }
  int32_t all[kTileCols];
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) vst1q_s32(all + 4 * v, vreinterpretq_s32_u32(count[v]));
  for (size_t j = 0; j < cols; ++j) to[j] = all[j];
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ARM64_BGEMM_TILE_H_
