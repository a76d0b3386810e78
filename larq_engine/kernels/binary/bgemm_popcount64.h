// The register-tiled product on 64-bit words, written once and compiled once for each way to count
// bits. Everything here is internal to the file that includes it: a copy compiled with ISA flags
// must never be merged with the copy that runs on any CPU.
//
// The tile keeps kPixels x kCols counters and one right-hand word per column in registers; each
// left word is loaded once a step and meets kCols right words. A tile of 4x2 needs 8 + 2 + 1
// registers and the pointers; 4x4 would spill the 16 general registers of x86-64. The unroll
// pragmas keep the counters in registers, because rolled loops index an array on the stack.
#ifndef LARQ_ENGINE_KERNELS_BINARY_BGEMM_POPCOUNT64_H_
#define LARQ_ENGINE_KERNELS_BINARY_BGEMM_POPCOUNT64_H_

#include <cstring>

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {
namespace {

inline constexpr size_t kStepWords = 2;  // one 64-bit word of depth

inline uint64_t Load64(const uint32_t* words) {
  uint64_t value;
  std::memcpy(&value, words, sizeof(value));  // runs are only 4-byte aligned
  return value;
}

// Counts one block of columns: pixels [0, kPixels) of the tile against kCols packed columns. Only
// the first `cols` of these are columns of the output.
template <int kTilePixels, int kPixels, int kCols, uint64_t (*kCount)(uint64_t)>
inline void CountBlock(const BgemmArgs& args, const uint32_t* rhs, size_t cols, int32_t* acc) {
  uint64_t count[kPixels][kCols] = {};
  const uint32_t* const lhs_base = args.lhs_base;
  const size_t segment_words = args.segment_words;
  const ptrdiff_t* const end = args.lhs + args.segments * kTilePixels;
  for (const ptrdiff_t* runs = args.lhs; runs != end; runs += kTilePixels) {
    const uint32_t* pixel[kPixels];
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) pixel[i] = LhsRun(lhs_base, runs[i]);
    for (size_t k = 0; k < segment_words; k += kStepWords) {
      uint64_t column[kCols];
#pragma GCC unroll 8
      for (int j = 0; j < kCols; ++j) column[j] = Load64(rhs + j * kStepWords);
      rhs += kCols * kStepWords;
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
        const uint64_t word = Load64(pixel[i] + k);
#pragma GCC unroll 8
        for (int j = 0; j < kCols; ++j) count[i][j] += kCount(word ^ column[j]);
      }
    }
  }
  for (int i = 0; i < kPixels; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      acc[i * args.acc_stride + j] = static_cast<int32_t>(count[i][j]);
    }
  }
}

template <int kTilePixels, int kPixels, int kCols, uint64_t (*kCount)(uint64_t)>
inline void CountPixels(const BgemmArgs& args) {
  const size_t block_words = args.segments * args.segment_words * kCols;
  const uint32_t* rhs = args.rhs;
  for (size_t j = 0; j < args.n; j += kCols, rhs += block_words) {
    const size_t cols = args.n - j < kCols ? args.n - j : kCols;
    CountBlock<kTilePixels, kPixels, kCols, kCount>(args, rhs, cols, args.acc + j);
  }
}

// Computes a tile of 4 x kCols. For a smaller m it takes a smaller tile, so that no pixel is
// counted for nothing.
template <int kCols, uint64_t (*kCount)(uint64_t)>
inline void BgemmPopcount64Tile4(const BgemmArgs& args) {
  switch (args.m) {
    case 1:
      return CountPixels<4, 1, kCols, kCount>(args);
    case 2:
      return CountPixels<4, 2, kCols, kCount>(args);
    case 3:
      return CountPixels<4, 3, kCols, kCount>(args);
    default:
      return CountPixels<4, 4, kCols, kCount>(args);
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_BGEMM_POPCOUNT64_H_
