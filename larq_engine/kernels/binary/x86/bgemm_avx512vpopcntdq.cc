// Lanes are output channels: a left word is broadcast and meets 16 filters at once, each lane
// counts its own output value in 32 bits, and nothing is ever summed across lanes.
//
// Two words are added to a running digit at once, and only their carry is counted. That takes 2.5
// operations for 512 bits, where xor, count and add are 3. On an Intel with two ports for them the
// limit is 410 MACs a cycle instead of 341. In L1 (depths 576, 1152, 2304, 4608) this row reaches
// 355 351 376 378; with xor, count and add it reached 313 320 324 321.
//
// The tile is 6 pixels by 2 vectors: with 8 pixels the pointers no longer fit the general
// registers, and four vectors would fill up the columns to 64 for nothing.
#include "larq_engine/kernels/binary/x86/bgemm_avx512vpopcntdq.h"

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

// Makes the optimizer believe that the pointer changes here. Otherwise gcc 12 derives several other
// pointers from it, and the loop's pointers spill (5 % at depth 576).
template <typename T>
inline void HideFromOptimizer(T*& pointer) {
  asm volatile("" : "+r"(pointer));
}

inline __mmask16 LanesBelow(size_t cols) {
  return static_cast<__mmask16>(cols >= kLanes ? 0xffff : (1u << cols) - 1);
}

// The count so far in each lane: the ones of `digit`, and twice `twos`.
struct Sum {
  __m512i digit;
  __m512i twos;
};

// vpternlog's tables: kOddOfThree of the digit before and two words, kCarryOfOne of digits only.
constexpr int kOddOfThree = 0x96;
constexpr int kCarryOfOne = 0x30;  // digits before and after a word

// These functions add words of one pixel and one vector of filters. Two words at once take 5
// operations, and their carry is counted as one; a single word takes 4.
[[gnu::always_inline]] inline void AddWord(Sum& sum, __m512i left, __m512i right) {
  const __m512i digit = _mm512_ternarylogic_epi32(sum.digit, left, right, kOddOfThree);
  const __m512i carry = _mm512_ternarylogic_epi32(sum.digit, digit, digit, kCarryOfOne);
  sum = {digit, _mm512_add_epi32(sum.twos, _mm512_popcnt_epi32(carry))};
}

// The table of the last operation, 0x74, gives the digit before if the digit is 0 after the first
// word, else the inverse of the digit after the second. The function is in assembler, because gcc
// 12 spills a third of the sums (70 % of the speed).
[[gnu::always_inline]] inline void AddTwoWords(Sum& sum, const __m512i (&left)[2],
                                               const __m512i (&right)[2]) {
  __m512i carry = sum.digit, first, digit;
  asm("vmovdqa64 %[carry], %[first]\n\t"
      "vpternlogd $0x96, %[left0], %[right0], %[first]\n\t"
      "vmovdqa64 %[first], %[digit]\n\t"
      "vpternlogd $0x96, %[left1], %[right1], %[digit]\n\t"
      "vpternlogd $0x74, %[digit], %[first], %[carry]\n\t"
      "vpopcntd %[carry], %[carry]\n\t"
      "vpaddd %[carry], %[twos], %[twos]"
      : [carry] "+v"(carry), [first] "=&v"(first), [digit] "=&v"(digit), [twos] "+v"(sum.twos)
      : [left0] "v"(left[0]), [left1] "v"(left[1]), [right0] "v"(right[0]), [right1] "v"(right[1]));
  sum.digit = digit;
}

[[gnu::always_inline]] inline Sum SumOfWord(__m512i left, __m512i right) {
  return {_mm512_xor_si512(left, right), _mm512_setzero_si512()};
}

[[gnu::always_inline]] inline Sum SumOfTwoWords(const __m512i (&left)[2],
                                                const __m512i (&right)[2]) {
  const __m512i first = _mm512_xor_si512(left[0], right[0]);
  const __m512i digit = _mm512_ternarylogic_epi32(first, left[1], right[1], kOddOfThree);
  const __m512i carry = _mm512_ternarylogic_epi32(first, digit, digit, kCarryOfOne);
  return {digit, _mm512_popcnt_epi32(carry)};
}

// Adds kWords words of each pixel, from word k of its run, and of each vector of filters. The first
// words of a tile need no sums of 0 to begin with.
template <int kWords, bool kStart, int kPixels>
[[gnu::always_inline]] inline void AddWords(Sum (&sum)[kPixels][kVectors],
                                            const uint32_t* const (&pixel)[kPixels], size_t k,
                                            const uint32_t*& rhs) {
  __m512i right[kVectors][kWords];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 8
    for (int w = 0; w < kWords; ++w) {
      right[v][w] = _mm512_load_si512(rhs + w * kCols + v * kLanes);
    }
  }
  rhs += kWords * kCols;
  HideFromOptimizer(rhs);
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) {
    __m512i left[kWords];
#pragma GCC unroll 8
    for (int w = 0; w < kWords; ++w) {
      left[w] = _mm512_set1_epi32(static_cast<int>(pixel[i][k + w]));
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (kWords == 2) {
        if constexpr (kStart) {
          sum[i][v] = SumOfTwoWords(left, right[v]);
        } else {
          AddTwoWords(sum[i][v], left, right[v]);
        }
      } else if constexpr (kStart) {
        sum[i][v] = SumOfWord(left[0], right[v][0]);
      } else {
        AddWord(sum[i][v], left[0], right[v][0]);
      }
    }
  }
}

template <int kPixels>
[[gnu::always_inline]] inline void PointAt(const uint32_t* (&pixel)[kPixels],
                                           const uint32_t* lhs_base, const ptrdiff_t* runs) {
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) pixel[i] = LhsRun(lhs_base, runs[i]);
}

template <int kPixels>
void CountPixels(const BgemmArgs& args) {
  const uint32_t* rhs = args.rhs;
  const size_t segment_words = args.segment_words;
  const uint32_t* const lhs_base = args.lhs_base;
  const ptrdiff_t* const end = args.lhs + args.segments * kTilePixels;
  for (size_t j = 0; j < args.n; j += kCols) {
    const ptrdiff_t* runs = args.lhs;
    const uint32_t* pixel[kPixels];
    PointAt(pixel, lhs_base, runs);
    Sum sum[kPixels][kVectors];
    size_t k = 2;
    if (segment_words == 1) {
      AddWords<1, true>(sum, pixel, 0, rhs);
    } else {
      AddWords<2, true>(sum, pixel, 0, rhs);
    }
    for (;;) {
      for (; k + 1 < segment_words; k += 2) AddWords<2, false>(sum, pixel, k, rhs);
      if (k < segment_words) AddWords<1, false>(sum, pixel, k, rhs);
      runs += kTilePixels;
      if (runs == end) break;
      PointAt(pixel, lhs_base, runs);
      k = 0;
    }
    __m512i count[kPixels][kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const __m512i twos = _mm512_add_epi32(sum[i][v].twos, sum[i][v].twos);
        count[i][v] = _mm512_add_epi32(twos, _mm512_popcnt_epi32(sum[i][v].digit));
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
        HideFromOptimizer(acc);
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

// For a smaller m it takes a smaller tile, so that no pixel is counted for nothing.
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
