#include "benchmarks/kernels/limit_avx512bw.h"

#include <immintrin.h>

#include "benchmarks/kernels/limit_look_up.h"

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

struct Avx512bw {
  using Vector = __m512i;

  static Vector Bytes(char byte) { return _mm512_set1_epi8(byte); }
  static Vector LookUp(Vector table, Vector nibbles) { return _mm512_shuffle_epi8(table, nibbles); }
  static Vector AddBytes(Vector a, Vector b) { return _mm512_add_epi8(a, b); }
  static Vector ShiftDown(Vector v) { return _mm512_srli_epi16(v, 4); }
};

}  // namespace

void RunAvx512bw(uint64_t steps) { RunLookUp<Avx512bw>(steps); }

}  // namespace larq_engine::benchmarks
