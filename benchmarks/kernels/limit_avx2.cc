#include "benchmarks/kernels/limit_avx2.h"

#include <immintrin.h>

#include "benchmarks/kernels/limit_look_up.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine::benchmarks {
namespace {

struct Avx2 {
  using Vector = __m256i;

  static Vector Bytes(char byte) { return _mm256_set1_epi8(byte); }
  static Vector LookUp(Vector table, Vector nibbles) { return _mm256_shuffle_epi8(table, nibbles); }
  static Vector AddBytes(Vector a, Vector b) { return _mm256_add_epi8(a, b); }
  static Vector ShiftDown(Vector v) { return _mm256_srli_epi16(v, 4); }
};

}  // namespace

void RunAvx2(uint64_t steps) { RunLookUp<Avx2>(steps); }

}  // namespace larq_engine::benchmarks
