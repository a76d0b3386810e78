#include "larq_engine/kernels/arm64/bgemm_dotprod.h"

#include "larq_engine/kernels/arm64/bgemm_tile.h"

#if !defined(__ARM_FEATURE_DOTPROD)
#error "this file is built with the flags of ISA_COPTS[\"dotprod\"]"
#endif

namespace larq_engine {
namespace {

template <int kRows>
void CountRows(const BgemmArgs& args) {
  const uint32_t* rhs = args.rhs;
  const size_t segment_words = args.segment_words;
  const ptrdiff_t* const end = args.lhs + args.segments * kTileRows;
  const uint8x16_t one = vdupq_n_u8(1);
  for (size_t j = 0; j < args.n; j += kTileCols) {
    uint32x4_t count[kRows][4];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) count[i][v] = vdupq_n_u32(0);
    }
    for (const ptrdiff_t* runs = args.lhs; runs != end; runs += kTileRows) {
      const uint32_t* row[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) row[i] = LhsRun(args.lhs_base, runs[i]);
      for (size_t k = 0; k < segment_words; k += kStepWords) {
        uint8x16_t left[kRows];
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) left[i] = LoadLeft(row[i] + k);
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) {
          const uint8x16_t right01 = LoadRight(rhs, 2 * v);
          const uint8x16_t right23 = LoadRight(rhs, 2 * v + 1);
#pragma GCC unroll 4
          for (int i = 0; i < kRows; ++i) {
            count[i][v] = vdotq_u32(count[i][v], CountFour(left[i], right01, right23), one);
          }
        }
        rhs += kTileCols * kStepWords;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      StoreColumns(args.acc + i * args.acc_stride + j, count[i], args.n - j);
    }
  }
}

}  // namespace

// Smaller m takes a smaller tile rather than counting rows for nothing.
void BgemmI32_4x16x64Dotprod(const BgemmArgs& args) {
  switch (args.m) {
    case 1:
      return CountRows<1>(args);
    case 2:
      return CountRows<2>(args);
    case 3:
      return CountRows<3>(args);
    default:
      return CountRows<4>(args);
  }
}

}  // namespace larq_engine
