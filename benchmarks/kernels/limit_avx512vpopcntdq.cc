#include "benchmarks/kernels/limit_avx512vpopcntdq.h"

#include <immintrin.h>

#if !defined(__AVX512VPOPCNTDQ__)
#error "this file is built with the flags of ISA_COPTS[\"avx512vpopcntdq\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

// Makes the compiler believe that the value is used and changed here, at the cost of no
// instruction.
inline void Blur(__m512i& value) { asm volatile("" : "+v"(value)); }

}  // namespace

void RunAvx512vpopcntdq(uint64_t steps) {
  __m512i left[8], right[2], count[8][2];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    left[i] = _mm512_set1_epi32(i);
    count[i][0] = count[i][1] = _mm512_setzero_si512();
  }
  right[0] = right[1] = _mm512_set1_epi32(9);
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      Blur(right[j]);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        Blur(left[i]);
        const __m512i ones = _mm512_popcnt_epi32(_mm512_xor_si512(left[i], right[j]));
        count[i][j] = _mm512_add_epi32(count[i][j], ones);
        Blur(count[i][j]);
      }
    }
  }
}

}  // namespace larq_engine::benchmarks
