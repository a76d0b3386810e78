#include "benchmarks/kernels/limit_avx2.h"

#include <immintrin.h>

#include "benchmarks/kernels/read_loop.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

// Makes the compiler believe that the value is used and changed here, at the cost of no
// instruction.
inline void Blur(__m256i& value) { asm volatile("" : "+x"(value)); }

// Of nibbles of a vector of filters: three are looked up and added for two pixels, with the eight
// operations of the row.
struct Sums {
  __m256i lanes = _mm256_setzero_si256();
  __m256i shifted = _mm256_setzero_si256();

  [[gnu::always_inline]] void Add(__m256i (&table)[3], const __m256i& filters) {
    __m256i counts = _mm256_shuffle_epi8(table[0], filters);
#pragma GCC unroll 2
    for (int step = 1; step < 3; ++step) {
      counts = _mm256_add_epi8(counts, _mm256_shuffle_epi8(table[step], filters));
    }
    lanes = _mm256_add_epi8(lanes, counts);
    shifted = _mm256_add_epi8(shifted, _mm256_srli_epi16(counts, 4));
    Blur(lanes);
    Blur(shifted);
#pragma GCC unroll 3
    for (__m256i& of : table) Blur(of);
  }
};

}  // namespace

void RunAvx2(uint64_t steps) {
  __m256i table[3];
  for (int step = 0; step < 3; ++step) table[step] = _mm256_set1_epi8(static_cast<char>(step));
  const __m256i filters = _mm256_set1_epi8(5);
  Sums sums[4];
  for (uint64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 4
    for (Sums& of : sums) of.Add(table, filters);
  }
}

void ReadAvx2(const std::byte* from, size_t bytes) { ReadVectors<__m256i>(from, bytes); }

}  // namespace larq_engine::benchmarks
