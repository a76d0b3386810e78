// Each digit of two words, their sum and their carry is one vpternlog. MACs a cycle on a Xeon at
// depths 576, 1152, 2304 and 4608 (bound in registers: 315 with carries of eight words):
//   differences first, then carries of four words   173 189 200 204
//   both at once                                    197 210 219 233
// Before that, on a Zen 5: without carries 237 236 242 243, with carries of four words
// 335 360 388 400 (two vectors: 303 322 346 365), of eight words 296 348 388 415.
#include "larq_engine/kernels/x86/bgemm_avx512bw.h"

#include <immintrin.h>

#include "larq_engine/kernels/bgemm_carry_save.h"

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

// Tables of vpternlog.
constexpr int kTwoOfThree = 0xe8;  // at least
constexpr int kOddOfThree = 0x96;
// Of a digit before two words, between them and after them: it fell from 1 to 0 once.
constexpr int kCarryOfTwo = 0x74;

struct Avx512bw {
  using Lanes = __m512i;
  static constexpr size_t kLanes = 16;

  static Lanes Zero() { return _mm512_setzero_si512(); }
  static Lanes Load(const uint32_t* words) { return _mm512_load_si512(words); }
  static Lanes Broadcast(uint32_t word) { return _mm512_set1_epi32(static_cast<int>(word)); }
  static Lanes Xor(Lanes a, Lanes b) { return _mm512_xor_si512(a, b); }
  static Lanes Add(Lanes a, Lanes b) { return _mm512_add_epi32(a, b); }
  static Lanes AddBytes(Lanes a, Lanes b) { return _mm512_add_epi8(a, b); }
  static Lanes CarrySave(Lanes& sum, Lanes a, Lanes b) {
    const Lanes carry = _mm512_ternarylogic_epi32(sum, a, b, kTwoOfThree);
    sum = _mm512_ternarylogic_epi32(sum, a, b, kOddOfThree);
    return carry;
  }
  // Three operations, where differences and CarrySave are four.
  static Lanes AddTwoWords(Lanes& sum, const Lanes (&left)[2], const Lanes (&right)[2]) {
    const Lanes before = sum;
    const Lanes first = _mm512_ternarylogic_epi32(before, left[0], right[0], kOddOfThree);
    sum = _mm512_ternarylogic_epi32(first, left[1], right[1], kOddOfThree);
    return _mm512_ternarylogic_epi32(before, first, sum, kCarryOfTwo);
  }
  static Lanes CountBytes(Lanes v) {
    // The table's bytes 0 1 1 2, 1 2 2 3, 1 2 2 3 and 2 3 3 4, last first.
    const Lanes table = _mm512_set4_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100);
    const Lanes nibble = _mm512_set1_epi8(15);
    const Lanes low = _mm512_and_si512(v, nibble);
    const Lanes high = _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble);
    return _mm512_add_epi8(_mm512_shuffle_epi8(table, low), _mm512_shuffle_epi8(table, high));
  }
  static Lanes SumBytes(Lanes v, char weight) {
    const Lanes pairs = _mm512_maddubs_epi16(v, _mm512_set1_epi8(weight));
    return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
  }
  // The first `lanes` of v; all if there are more.
  static void Store(int32_t* to, Lanes v, size_t lanes) {
    if (lanes >= kLanes) {
      _mm512_storeu_si512(to, v);
    } else {
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << lanes) - 1), v);
    }
  }
};

}  // namespace

void BgemmI32_8x64x32Avx512bw(const BgemmArgs& args) { BgemmCarrySave<Avx512bw, 8, 4>(args); }

}  // namespace larq_engine
