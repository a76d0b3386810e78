#include "larq_engine/kernels/binary/arm64/bgemm_sme2.h"

namespace larq_engine {
namespace {

constexpr size_t kTile = 32;  // pixels, and columns
// Words of depth that are transposed together, which take 20 KiB; 3x3 taps of 512 channels are 144.
constexpr size_t kPartWords = 160;

}  // namespace

// A part of the depth: `segments` runs of each pixel, of `words` words.
struct Sme2Part {
  size_t m;
  size_t words;
  const ptrdiff_t* runs;
  size_t segments;
  const uint32_t* lhs_base;
  uint32_t* left;  // room for [segments * words][kTile]
  size_t n;
  const uint32_t* rhs_end;  // the part's end in the first block of columns
  int32_t* acc;
  size_t acc_bytes;   // bytes from one pixel to the next
  size_t next_block;  // bytes from the end of a block's word to the same word of the next block
  size_t is_first;    // if 0, the part's product is added to acc
};
// The assembler relies on these offsets.
static_assert(offsetof(Sme2Part, runs) == 16 && offsetof(Sme2Part, lhs_base) == 32 &&
              offsetof(Sme2Part, n) == 48 && offsetof(Sme2Part, acc) == 64 &&
              offsetof(Sme2Part, next_block) == 80 && sizeof(Sme2Part) == 96);

}  // namespace larq_engine

// Defined in bgemm_sme2.S.
extern "C" void larq_engine_bgemm_sme2_32x32x32(const larq_engine::Sme2Part* part);

namespace larq_engine {

void BgemmI32_32x32x32Sme2(const BgemmArgs& args) {
  uint32_t left[kPartWords * kTile];
  const uint32_t* rhs = args.rhs;
  // Each part has as many runs as fit, or a part of one run that does not fit.
  const size_t fitting = kPartWords / args.segment_words;
  const size_t step = fitting == 0 ? 1 : fitting;
  for (size_t s = 0; s < args.segments; s += step) {
    const size_t segments = args.segments - s < step ? args.segments - s : step;
    for (size_t k = 0; k < args.segment_words; k += kPartWords) {
      const size_t rest = args.segment_words - k;
      const size_t words = rest < kPartWords ? rest : kPartWords;
      const bool is_first = rhs == args.rhs;
      rhs += segments * words * kTile;
      const Sme2Part part = {
          .m = args.m,
          .words = words,
          .runs = args.lhs + s * kTile,
          .segments = segments,
          .lhs_base = LhsRun(args.lhs_base, static_cast<ptrdiff_t>(k)),
          .left = left,
          .n = args.n,
          .rhs_end = rhs,
          .acc = args.acc,
          .acc_bytes = args.acc_stride * sizeof(int32_t),
          .next_block = (args.segments * args.segment_words - 1) * kTile * sizeof(uint32_t),
          .is_first = is_first};
      larq_engine_bgemm_sme2_32x32x32(&part);
    }
  }
}

}  // namespace larq_engine
