// MACs a cycle on a Xeon at depths 576, 1152, 2304 and 4608:
//   words added bit by bit, carries of four   89  96 103 107
//   look-up                                  169 206 204 205
#include "larq_engine/kernels/binary/x86/bgemm_avx2.h"

#include <immintrin.h>

#include "larq_engine/kernels/binary/x86/bgemm_offsets.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

struct Avx2 : X86Offsets {
  using Vector = __m256i;
  static constexpr int kMostVectorsOfTwo = 2;
  static constexpr size_t kSums = 8;

  static Vector Zero() { return _mm256_setzero_si256(); }
  static Vector Table(const uint8_t* table) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
  }
  static Vector LookUp(Vector table, Vector nibbles) { return _mm256_shuffle_epi8(table, nibbles); }
  static Vector AddBytes(Vector a, Vector b) { return _mm256_add_epi8(a, b); }
  static Vector AddLanes(Vector a, Vector b) { return _mm256_add_epi16(a, b); }
  static Vector SubtractLanes(Vector a, Vector b) { return _mm256_sub_epi16(a, b); }
  static Vector ShiftUp(Vector v) { return _mm256_slli_epi16(v, 4); }
  template <int kBits>
  static Vector ShiftDown(Vector v) {
    return _mm256_srli_epi16(v, kBits);
  }
  static Vector LowBytes(Vector v) { return _mm256_and_si256(v, _mm256_set1_epi16(255)); }
  static Vector LowNibbles(Vector v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
  static void Keep(Vector& v) { asm volatile("" : "+x"(v)); }
  static void StoreSums(const uint16_t* counts, size_t columns, bool add, int32_t* acc) {
    Vector sums = _mm256_cvtepu16_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(counts)));
    if (columns >= kSums) {
      auto* to = reinterpret_cast<Vector*>(acc);
      if (add) sums = _mm256_add_epi32(sums, _mm256_loadu_si256(to));
      _mm256_storeu_si256(to, sums);
    } else {
      const Vector wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(columns)),
                                               _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      if (add) sums = _mm256_add_epi32(sums, _mm256_maskload_epi32(acc, wanted));
      _mm256_maskstore_epi32(acc, wanted, sums);
    }
  }
};

}  // namespace

void BgemmI32_8x32x32Avx2(const BgemmArgs& args) { BgemmLookUp<Avx2, NibbleFilters, 8>(args); }

void BgemmI32_2x32x32Avx2(const BgemmArgs& args) { BgemmLookUp<Avx2, ByteFilters, 2>(args); }

}  // namespace larq_engine
