// Two tiles of 16 pixels by 64 bytes of depth meet two tiles of 64 bytes by 16 filters: four
// products for four loads. Each product advances a tile of 16 pixels by 16 filters by 64 steps of
// depth, 16384 multiply-accumulates in 16 cycles.
//
// The tiles' shapes are set up at the start of each call and released at its end, because other
// code on this thread, XNNPACK among it, sets up its own.
#include "larq_engine/kernels/bytes/x86/byte_amxint8.h"

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/bytes/x86/expand_avx512bw.h"

#if !defined(__AMX_INT8__) && !defined(__AMXINT8__)  // clang before version 15 has no underscore
#error "this file is built with the flags of ISA_COPTS[\"amxint8\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kTileRows = 16;
constexpr size_t kTileBytes = 64;  // bytes of a row
constexpr size_t kCols = 16;

// Tile numbers, as the instructions take them. They are macros, because the compilers' intrinsics
// for tiles are macros.
#define LARQ_SUM_00 0
#define LARQ_SUM_01 1
#define LARQ_SUM_10 2
#define LARQ_SUM_11 3
#define LARQ_LEFT_0 4
#define LARQ_LEFT_1 5
#define LARQ_RIGHT_0 6
#define LARQ_RIGHT_1 7

// The memory that LDTILECFG reads.
struct TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// Sets up tiles for m pixels: tiles of sums and of the left side have one row for each. The second
// tiles may have no pixels, and are then not used.
void Configure(size_t m) {
  TileConfig config;
  const size_t first = m < kTileRows ? m : kTileRows;
  const size_t second = m > kTileRows ? m - kTileRows : 1;
  constexpr int kFirst[] = {LARQ_SUM_00, LARQ_SUM_01, LARQ_LEFT_0};
  constexpr int kSecond[] = {LARQ_SUM_10, LARQ_SUM_11, LARQ_LEFT_1};
  for (const int tile : kFirst) config.rows[tile] = static_cast<uint8_t>(first);
  for (const int tile : kSecond) config.rows[tile] = static_cast<uint8_t>(second);
  config.rows[LARQ_RIGHT_0] = config.rows[LARQ_RIGHT_1] = kTileRows;
  for (int tile = 0; tile < 8; ++tile) config.row_bytes[tile] = kTileBytes;
  asm volatile("" : : "r"(&config) : "memory");  // gcc 12 thinks that only 8 bytes are read
  _tile_loadconfig(&config);
}

// Copies the wanted columns of a tile of sums.
void CopyColumns(const int32_t* sums, size_t rows, size_t cols, int32_t* acc, size_t stride) {
  for (size_t i = 0; i < rows; ++i) {
    std::memcpy(acc + i * stride, sums + i * kCols, cols * sizeof(int32_t));
  }
}

#define LARQ_STORE(tile, rows, cols, acc)                  \
  do {                                                     \
    if ((cols) >= kCols) {                                 \
      _tile_stored(tile, acc, stride_bytes);               \
    } else {                                               \
      int32_t sums[kTileRows * kCols];                     \
      _tile_stored(tile, sums, kTileBytes);                \
      CopyColumns(sums, rows, cols, acc, args.acc_stride); \
    }                                                      \
  } while (false)

// Computes all pixels of kBlocks * 16 columns from j on.
template <bool kTwoLeft, bool kTwoRight>
void MultiplyBlocks(const ByteArgs& args, size_t j, const int8_t* rhs) {
  // A stride of 0 loads the columns' starts into every row.
  _tile_loadd(LARQ_SUM_00, args.start + j, 0);
  if constexpr (kTwoRight) _tile_loadd(LARQ_SUM_01, args.start + j + kCols, 0);
  if constexpr (kTwoLeft) _tile_loadd(LARQ_SUM_10, args.start + j, 0);
  if constexpr (kTwoLeft && kTwoRight) _tile_loadd(LARQ_SUM_11, args.start + j + kCols, 0);
  const size_t block = DepthOf(args) * kCols;
  const uint8_t* first = args.lhs;
  const uint8_t* second = args.lhs + kTileRows * args.lhs_stride;
  for (size_t s = 0; s < args.segments; ++s) {
    for (size_t k = 0; k < args.segment_bytes; k += kTileBytes, rhs += kTileBytes * kCols) {
      _tile_loadd(LARQ_RIGHT_0, rhs, kTileBytes);
      _tile_loadd(LARQ_LEFT_0, first + k, args.lhs_stride);
      _tile_dpbusd(LARQ_SUM_00, LARQ_LEFT_0, LARQ_RIGHT_0);
      if constexpr (kTwoLeft) {
        _tile_loadd(LARQ_LEFT_1, second + k, args.lhs_stride);
        _tile_dpbusd(LARQ_SUM_10, LARQ_LEFT_1, LARQ_RIGHT_0);
      }
      if constexpr (kTwoRight) {
        _tile_loadd(LARQ_RIGHT_1, rhs + block, kTileBytes);
        _tile_dpbusd(LARQ_SUM_01, LARQ_LEFT_0, LARQ_RIGHT_1);
        if constexpr (kTwoLeft) _tile_dpbusd(LARQ_SUM_11, LARQ_LEFT_1, LARQ_RIGHT_1);
      }
    }
    first += args.segment_stride;
    second += args.segment_stride;
  }
  const size_t stride_bytes = args.acc_stride * sizeof(int32_t);
  const size_t rows = args.m < kTileRows ? args.m : kTileRows;
  const size_t cols = args.n - j;
  int32_t* acc = args.acc + j;
  LARQ_STORE(LARQ_SUM_00, rows, cols, acc);
  if constexpr (kTwoRight) LARQ_STORE(LARQ_SUM_01, rows, cols - kCols, acc + kCols);
  if constexpr (kTwoLeft) {
    int32_t* below = acc + kTileRows * args.acc_stride;
    LARQ_STORE(LARQ_SUM_10, args.m - kTileRows, cols, below);
    if constexpr (kTwoRight) {
      LARQ_STORE(LARQ_SUM_11, args.m - kTileRows, cols - kCols, below + kCols);
    }
  }
}

template <bool kTwoLeft>
void MultiplyPixels(const ByteArgs& args) {
  const int8_t* rhs = args.rhs;
  size_t j = 0;
  for (; j + kCols < args.n; j += 2 * kCols, rhs += 2 * kCols * DepthOf(args)) {
    MultiplyBlocks<kTwoLeft, true>(args, j, rhs);
  }
  if (j < args.n) MultiplyBlocks<kTwoLeft, false>(args, j, rhs);
}

}  // namespace

void BytesI32_32x16x64Amxint8(const ByteArgs& args) {
  Configure(args.m);
  if (args.m > kTileRows) {
    MultiplyPixels<true>(args);
  } else {
    MultiplyPixels<false>(args);
  }
  _tile_release();
}

void ExpandAmxint8(const ExpandArgs& args) { ExpandAvx512bw(args); }

}  // namespace larq_engine
