// The part of the product by look-up that finds tables, for AVX2 and AVX-512BW. Everything here is
// internal to the file that includes it.
#ifndef LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_OFFSETS_H_
#define LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_OFFSETS_H_

#include <immintrin.h>

#include "larq_engine/kernels/binary/bgemm_look_up.h"

namespace larq_engine {
namespace {

struct X86Offsets {
  template <int kWords>
  [[gnu::always_inline]] static void StoreOffsets(const uint32_t* first, const uint32_t* second,
                                                  TableOffset* to) {
    Store<kWords>(Load<kWords>(first), Load<kWords>(second), to);
  }

 private:
  template <int kWords>
  [[gnu::always_inline]] static __m128i Load(const uint32_t* words) {
    if constexpr (kWords == 1) {
      return _mm_cvtsi32_si128(static_cast<int>(*words));
    } else if constexpr (kWords == 2) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(words));
    } else {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
    }
  }

  // Returns the tables of 16 nibbles of each pixel, in the nibbles' order.
  [[gnu::always_inline]] static __m256i OffsetsOfBytes(__m128i nibbles) {
    return _mm256_slli_epi16(_mm256_cvtepu8_epi16(nibbles), 4);
  }

  template <int kWords>
  [[gnu::always_inline]] static void Store(__m128i first, __m128i second, TableOffset* to) {
    const __m128i low_nibble = _mm_set1_epi8(15);
    const __m128i low = _mm_or_si128(_mm_and_si128(first, low_nibble),
                                     _mm_slli_epi16(_mm_and_si128(second, low_nibble), 4));
    const __m128i high = _mm_or_si128(_mm_and_si128(_mm_srli_epi16(first, 4), low_nibble),
                                      _mm_andnot_si128(low_nibble, second));
    const __m256i offsets = OffsetsOfBytes(_mm_unpacklo_epi8(low, high));
    if constexpr (kWords == 1) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(offsets));
      return;
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), offsets);
    if constexpr (kWords == 4) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * kNibbles),
                          OffsetsOfBytes(_mm_unpackhi_epi8(low, high)));
    }
  }
};

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_X86_BGEMM_OFFSETS_H_
