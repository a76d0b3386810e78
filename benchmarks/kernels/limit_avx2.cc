#include "benchmarks/kernels/limit_avx2.h"

#include <immintrin.h>

#include "benchmarks/kernels/limit_carry_save.h"
#include "benchmarks/kernels/read_loop.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

struct Avx2 {
  using Vector = __m256i;

  static Vector Broadcast(int word) { return _mm256_set1_epi32(word); }
  static Vector Xor(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  static Vector AddBytes(Vector a, Vector b) { return _mm256_add_epi8(a, b); }
  static Vector CarrySave(Vector& sum, Vector a, Vector b) {
    const Vector differ = _mm256_xor_si256(a, b);
    const Vector carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, sum));
    sum = _mm256_xor_si256(sum, differ);
    return carry;
  }
  static Vector AddTwoWords(Vector& sum, const Vector (&left)[2], Vector right) {
    return CarrySave(sum, Xor(left[0], right), Xor(left[1], right));
  }
  static Vector CountBytes(Vector v) {
    const Vector table = Broadcast(0x04030302);  // any table costs the same
    const Vector nibble = _mm256_set1_epi8(15);
    const Vector low = _mm256_and_si256(v, nibble);
    const Vector high = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
  }
};

}  // namespace

void RunAvx2(uint64_t steps) { RunCarrySave<Avx2, 8>(steps); }

void ReadAvx2(const std::byte* from, size_t bytes) { ReadVectors<__m256i>(from, bytes); }

}  // namespace larq_engine::benchmarks
