// MACs a cycle on a Zen 5 at depths 576, 1152, 2304 and 4608 (bound in registers: 146 with carries
// of four words, 150 of eight, 121 without):
//   look-up of every word       115 115 116 118
//   carries of two words        111 119 122 123
//   carries of four words       117 120 126 129  (this one; one vector: 109 110 111 118)
//   carries of eight words      109 121 126 133
#include "larq_engine/kernels/x86/bgemm_avx2.h"

#include <immintrin.h>

#include "larq_engine/kernels/bgemm_carry_save.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

struct Avx2 {
  using Lanes = __m256i;
  static constexpr size_t kLanes = 8;

  static Lanes Zero() { return _mm256_setzero_si256(); }
  static Lanes Load(const uint32_t* words) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
  }
  static Lanes Broadcast(uint32_t word) { return _mm256_set1_epi32(static_cast<int>(word)); }
  static Lanes Xor(Lanes a, Lanes b) { return _mm256_xor_si256(a, b); }
  static Lanes Add(Lanes a, Lanes b) { return _mm256_add_epi32(a, b); }
  static Lanes AddBytes(Lanes a, Lanes b) { return _mm256_add_epi8(a, b); }
  static Lanes CarrySave(Lanes& sum, Lanes a, Lanes b) {
    const Lanes differ = _mm256_xor_si256(a, b);
    const Lanes carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, sum));
    sum = _mm256_xor_si256(sum, differ);
    return carry;
  }
  static Lanes AddTwoWords(Lanes& sum, const Lanes (&left)[2], const Lanes (&right)[2]) {
    return CarrySave(sum, Xor(left[0], right[0]), Xor(left[1], right[1]));
  }
  static Lanes CountBytes(Lanes v) {
    const Lanes table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const Lanes nibble = _mm256_set1_epi8(15);
    const Lanes low = _mm256_and_si256(v, nibble);
    const Lanes high = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
  }
  static Lanes SumBytes(Lanes v, char weight) {
    const Lanes pairs = _mm256_maddubs_epi16(v, _mm256_set1_epi8(weight));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
  // The first `lanes` of v; all if there are more.
  static void Store(int32_t* to, Lanes v, size_t lanes) {
    if (lanes >= kLanes) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
    } else {
      const Lanes wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(lanes)),
                                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      _mm256_maskstore_epi32(to, wanted, v);
    }
  }
};

}  // namespace

void BgemmI32_8x16x32Avx2(const BgemmArgs& args) { BgemmCarrySave<Avx2, 8, 2>(args); }

}  // namespace larq_engine
