// The part of the rows for 64-bit ARM that is in C++: tiles that are not whole blocks of columns.
// The rest is assembler: bgemm_tile.inc. Everything here is internal to the file that includes it.
#ifndef LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_TILE_H_
#define LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_TILE_H_

#include "larq_engine/kernels/binary/bgemm.h"

namespace larq_engine {
namespace {

inline constexpr size_t kTilePixels = 4;
inline constexpr size_t kTileCols = 16;

// The assembler relies on these offsets.
static_assert(offsetof(BgemmArgs, n) == 8 && offsetof(BgemmArgs, segments) == 16 &&
              offsetof(BgemmArgs, segment_words) == 24 && offsetof(BgemmArgs, lhs_base) == 32 &&
              offsetof(BgemmArgs, lhs) == 40 && offsetof(BgemmArgs, rhs) == 48 &&
              offsetof(BgemmArgs, acc) == 56 && offsetof(BgemmArgs, acc_stride) == 64);

// The functions for tiles of 1, 2, 3 and 4 pixels; n must be a multiple of 16. A smaller tile has
// its own code, so that no pixel is counted for nothing.
using WholeBlocks = void (*const[kTilePixels])(const BgemmArgs* args);

// Counts a tile. If the last block has columns that only fill it up, its results go through a
// buffer.
inline void CountTile(const WholeBlocks& whole_blocks, const BgemmArgs& args) {
  const auto count = whole_blocks[args.m - 1];
  const size_t whole = args.n / kTileCols * kTileCols;
  if (whole == args.n) return count(&args);
  if (whole > 0) {
    BgemmArgs blocks = args;
    blocks.n = whole;
    count(&blocks);
  }

  int32_t acc[kTilePixels * kTileCols];
  BgemmArgs rest = args;
  rest.n = kTileCols;
  rest.rhs += whole * args.segments * args.segment_words;
  rest.acc = acc;
  rest.acc_stride = kTileCols;
  count(&rest);
  for (size_t i = 0; i < args.m; ++i) {
    for (size_t j = whole; j < args.n; ++j) {
      args.acc[i * args.acc_stride + j] = acc[i * kTileCols + j - whole];
    }
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_ARM64_BGEMM_TILE_H_
