#include "larq_engine/kernels/binary/arm64/bgemm_neon.h"

#include "larq_engine/kernels/binary/arm64/bgemm_tile.h"

// Defined in bgemm_neon.S.
extern "C" {
void larq_engine_bgemm_neon_1x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_2x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_3x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_4x16x64(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_1x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_2x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_3x16x128(const larq_engine::BgemmArgs* args);
void larq_engine_bgemm_neon_4x16x128(const larq_engine::BgemmArgs* args);
}

namespace larq_engine {
namespace {

constexpr WholeBlocks kSteps64 = {larq_engine_bgemm_neon_1x16x64, larq_engine_bgemm_neon_2x16x64,
                                  larq_engine_bgemm_neon_3x16x64, larq_engine_bgemm_neon_4x16x64};
constexpr WholeBlocks kSteps128 = {larq_engine_bgemm_neon_1x16x128, larq_engine_bgemm_neon_2x16x128,
                                   larq_engine_bgemm_neon_3x16x128,
                                   larq_engine_bgemm_neon_4x16x128};

// The most words whose counts fit the 16 bits of the assembler's counters, rounded down to a
// multiple of every kernel's step.
constexpr size_t kMaxWords = 65408 / kWordBits;

// Computes a deeper product as a sum of products that fit: of parts of runs, one block of columns
// at a time.
void CountDeepTile(const WholeBlocks& whole_blocks, const BgemmArgs& args) {
  const size_t words = args.segments * args.segment_words;
  for (size_t j = 0; j < args.n; j += kTileCols) {
    const size_t cols = args.n - j < kTileCols ? args.n - j : kTileCols;
    const uint32_t* rhs = args.rhs + j * words;
    for (size_t i = 0; i < args.m; ++i) {
      for (size_t c = 0; c < cols; ++c) args.acc[i * args.acc_stride + j + c] = 0;
    }
    for (size_t s = 0; s < args.segments; ++s) {
      for (size_t first = 0; first < args.segment_words; first += kMaxWords) {
        const size_t left = args.segment_words - first;
        const size_t now = left < kMaxWords ? left : kMaxWords;
        int32_t acc[kTilePixels * kTileCols];
        BgemmArgs part = args;
        part.n = cols;
        part.segments = 1;
        part.segment_words = now;
        part.lhs_base = LhsRun(args.lhs_base, static_cast<ptrdiff_t>(first));
        part.lhs = args.lhs + s * kTilePixels;
        part.rhs = rhs;
        part.acc = acc;
        part.acc_stride = kTileCols;
        CountTile(whole_blocks, part);
        for (size_t i = 0; i < args.m; ++i) {
          for (size_t c = 0; c < cols; ++c) {
            args.acc[i * args.acc_stride + j + c] += acc[i * kTileCols + c];
          }
        }
        rhs += now * kTileCols;
      }
    }
  }
}

void Count(const WholeBlocks& whole_blocks, const BgemmArgs& args) {
  if (args.segments * args.segment_words <= kMaxWords) {
    CountTile(whole_blocks, args);
  } else {
    CountDeepTile(whole_blocks, args);
  }
}

}  // namespace

void BgemmI32_4x16x64Neon(const BgemmArgs& args) { Count(kSteps64, args); }
void BgemmI32_4x16x128Neon(const BgemmArgs& args) { Count(kSteps128, args); }

}  // namespace larq_engine
