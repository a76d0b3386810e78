// Lanes are output channels: a left word is broadcast and meets 16 filters at once, each lane
// counts its own output value in 32 bits, and nothing is ever summed across lanes.
//
// The tile is 6 pixels by 2 vectors. On a Zen 5 (bound of xor, count, add: 682 MACs a cycle), tiles
// at depths 576 and 1152, whose blocks are short (best of 40 batches):
//   6x2 655 673   8x2 639 654   4x4 659 668   6x4 655 668   12x2 633 655   8x3 423 655
//   8x2 of 64-bit lanes 590 625
// Four vectors gain nothing and would fill up to 64 columns for nothing; with 8 pixels the pointers
// no longer fit the general registers.
#include "larq_engine/kernels/x86/bgemm_avx512vpopcntdq.h"

#include <immintrin.h>

#if !defined(__AVX512VPOPCNTDQ__)
#error "this file is built with the flags of ISA_COPTS[\"avx512vpopcntdq\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kTilePixels = 6;
constexpr int kVectors = 2;
constexpr size_t kLanes = 16;
constexpr size_t kCols = kVectors * kLanes;

// Makes the compiler believe that the pointer changes here. Otherwise gcc 12 derives several
// others from it, and the loop's pointers spill (5 % at depth 576).
template <typename T>
inline void Blur(T*& pointer) {
  asm volatile("" : "+r"(pointer));
}

inline __mmask16 LanesBelow(size_t cols) {
  return static_cast<__mmask16>(cols >= kLanes ? 0xffff : (1u << cols) - 1);
}

template <int kPixels>
void CountPixels(const BgemmArgs& args) {
  const uint32_t* rhs = args.rhs;
  const size_t segment_words = args.segment_words;
  const uint32_t* const lhs_base = args.lhs_base;
  const ptrdiff_t* const end = args.lhs + args.segments * kTilePixels;
  for (size_t j = 0; j < args.n; j += kCols) {
    __m512i count[kPixels][kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) count[i][v] = _mm512_setzero_si512();
    }
    for (const ptrdiff_t* runs = args.lhs; runs != end; runs += kTilePixels) {
      const uint32_t* pixel[kPixels];
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) pixel[i] = LhsRun(lhs_base, runs[i]);
      for (size_t k = 0; k < segment_words; ++k) {
        __m512i column[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) column[v] = _mm512_load_si512(rhs + v * kLanes);
        rhs += kCols;
        Blur(rhs);
#pragma GCC unroll 8
        for (int i = 0; i < kPixels; ++i) {
          const __m512i word = _mm512_set1_epi32(static_cast<int>(pixel[i][k]));
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v) {
            const __m512i ones = _mm512_popcnt_epi32(_mm512_xor_si512(word, column[v]));
            count[i][v] = _mm512_add_epi32(count[i][v], ones);
          }
        }
      }
    }
    int32_t* acc = args.acc + j;
    const size_t cols = args.n - j;
    if (cols >= kCols) {
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(acc + v * kLanes, count[i][v]);
        acc += args.acc_stride;
        Blur(acc);
      }
    } else {
      const __mmask16 first = LanesBelow(cols);
      const __mmask16 second = LanesBelow(cols < kLanes ? 0 : cols - kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
        _mm512_mask_storeu_epi32(acc, first, count[i][0]);
        _mm512_mask_storeu_epi32(acc + kLanes, second, count[i][1]);
        acc += args.acc_stride;
      }
    }
  }
}

}  // namespace

// Smaller m takes a smaller tile rather than counting pixels for nothing.
void BgemmI32_6x32x32Avx512vpopcntdq(const BgemmArgs& args) {
  switch (args.m) {
    case 1:
      return CountPixels<1>(args);
    case 2:
      return CountPixels<2>(args);
    case 3:
      return CountPixels<3>(args);
    case 4:
      return CountPixels<4>(args);
    case 5:
      return CountPixels<5>(args);
    default:
      return CountPixels<6>(args);
  }
}

}  // namespace larq_engine
