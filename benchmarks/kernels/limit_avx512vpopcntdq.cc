#include "benchmarks/kernels/limit_avx512vpopcntdq.h"

#include <immintrin.h>

#if !defined(__AVX512VPOPCNTDQ__)
#error "this file is built with the flags of ISA_COPTS[\"avx512vpopcntdq\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

// Makes the optimizer believe that the value is used and changed here, without an instruction.
inline void HideFromOptimizer(__m512i& value) { asm volatile("" : "+v"(value)); }

}  // namespace

// In each step adds two words to each of 12 sums with the five operations of the row: two exclusive
// ors add the words to the sum's lowest binary digit, one operation finds the carry, and two count
// its ones and add them up.
void RunAvx512vpopcntdq(uint64_t steps) {
  __m512i digit[12], twos[12], left[2], right[2];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) digit[i] = twos[i] = _mm512_setzero_si512();
#pragma GCC unroll 2
  for (int w = 0; w < 2; ++w) {
    left[w] = _mm512_set1_epi32(w);
    right[w] = _mm512_set1_epi32(9);
  }
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      const __m512i first = _mm512_ternarylogic_epi32(digit[i], left[0], right[0], 0x96);
      const __m512i second = _mm512_ternarylogic_epi32(first, left[1], right[1], 0x96);
      const __m512i carry = _mm512_ternarylogic_epi32(digit[i], first, second, 0x74);
      twos[i] = _mm512_add_epi32(twos[i], _mm512_popcnt_epi32(carry));
      digit[i] = second;
      HideFromOptimizer(digit[i]);
      HideFromOptimizer(twos[i]);
    }
#pragma GCC unroll 2
    for (int w = 0; w < 2; ++w) {
      HideFromOptimizer(left[w]);
      HideFromOptimizer(right[w]);
    }
  }
}

}  // namespace larq_engine::benchmarks
