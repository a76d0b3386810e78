#include "benchmarks/kernels/limit_avx512bw.h"

#include <immintrin.h>

#include "benchmarks/kernels/limit_carry_save.h"
#include "benchmarks/kernels/read_loop.h"

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

struct Avx512bw {
  using Vector = __m512i;

  static Vector Broadcast(int word) { return _mm512_set1_epi32(word); }
  static Vector Xor(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
  static Vector AddBytes(Vector a, Vector b) { return _mm512_add_epi8(a, b); }
  static Vector CarrySave(Vector& sum, Vector a, Vector b) {
    const Vector carry = _mm512_ternarylogic_epi32(sum, a, b, 0xe8);
    sum = _mm512_ternarylogic_epi32(sum, a, b, 0x96);
    return carry;
  }
  static Vector AddTwoWords(Vector& sum, const Vector (&left)[2], Vector right) {
    const Vector before = sum;
    const Vector first = _mm512_ternarylogic_epi32(before, left[0], right, 0x96);
    sum = _mm512_ternarylogic_epi32(first, left[1], right, 0x96);
    return _mm512_ternarylogic_epi32(before, first, sum, 0x74);
  }
  static Vector CountBytes(Vector v) {
    const Vector table = Broadcast(0x04030302);  // any table costs the same
    const Vector nibble = _mm512_set1_epi8(15);
    const Vector low = _mm512_and_si512(v, nibble);
    const Vector high = _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble);
    return _mm512_add_epi8(_mm512_shuffle_epi8(table, low), _mm512_shuffle_epi8(table, high));
  }
};

}  // namespace

void RunAvx512bw(uint64_t steps) { RunCarrySave<Avx512bw, 8>(steps); }

void ReadAvx512bw(const std::byte* from, size_t bytes) { ReadVectors<__m512i>(from, bytes); }

}  // namespace larq_engine::benchmarks
