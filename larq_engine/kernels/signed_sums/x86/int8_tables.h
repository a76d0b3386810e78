// Makes the tables of signed_sums.h, two at a time, with vectors of 256 bits. Everything here is
// internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_INT8_TABLES_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_INT8_TABLES_H_

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {
namespace {

// Returns two inputs in all lanes.
inline __m256i TwoInputs(const int8_t* inputs) {
  int16_t two;
  std::memcpy(&two, inputs, sizeof(two));
  return _mm256_set1_epi16(two);
}

// Returns sums: lane e has kInt8TableOffset plus those of four inputs whose bits are set in e.
inline __m256i SumsOfInputs(const int8_t* inputs) {
  // Bits 0 and 1 of e, and then bits 2 and 3, each as a byte.
  const __m256i first = _mm256_setr_epi16(0x000, 0x001, 0x100, 0x101, 0x000, 0x001, 0x100, 0x101,
                                          0x000, 0x001, 0x100, 0x101, 0x000, 0x001, 0x100, 0x101);
  const __m256i last = _mm256_setr_epi16(0x000, 0x000, 0x000, 0x000, 0x001, 0x001, 0x001, 0x001,
                                         0x100, 0x100, 0x100, 0x100, 0x101, 0x101, 0x101, 0x101);
  const __m256i of_first = _mm256_maddubs_epi16(first, TwoInputs(inputs));
  const __m256i of_last = _mm256_maddubs_epi16(last, TwoInputs(inputs + 2));
  return _mm256_add_epi16(_mm256_add_epi16(of_first, of_last), _mm256_set1_epi16(kInt8TableOffset));
}

inline void StoreDigits(__m256i digits_0, __m256i digits_1, uint8_t* table_0, uint8_t* table_1) {
  const __m256i quarters = _mm256_packus_epi16(digits_0, digits_1);
  const __m256i tables = _mm256_permute4x64_epi64(quarters, 0xd8);
  _mm_store_si128(reinterpret_cast<__m128i*>(table_0), _mm256_castsi256_si128(tables));
  _mm_store_si128(reinterpret_cast<__m128i*>(table_1), _mm256_extracti128_si256(tables, 1));
}

inline int32_t MakeInt8TablesAvx2(const int8_t* inputs, size_t words, Int8Tables* tables) {
  const __m256i low_digit = _mm256_set1_epi16(31);
  __m256i all = _mm256_setzero_si256();
  for (size_t w = 0; w < words; ++w, inputs += 32) {
    const __m256i word = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(inputs));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), word);
    all = _mm256_add_epi32(all, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    for (size_t q = 0; q < 4; ++q) {
      const __m256i sums_0 = SumsOfInputs(inputs + 8 * q);
      const __m256i sums_1 = SumsOfInputs(inputs + 8 * q + 4);
      StoreDigits(_mm256_and_si256(sums_0, low_digit), _mm256_and_si256(sums_1, low_digit),
                  tables[w].low[0] + 16 * q, tables[w].low[1] + 16 * q);
      StoreDigits(_mm256_srli_epi16(sums_0, 5), _mm256_srli_epi16(sums_1, 5),
                  tables[w].high[0] + 16 * q, tables[w].high[1] + 16 * q);
    }
  }
  alignas(32) int32_t of_lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(of_lanes), all);
  int32_t sum = Int8TablesBase(words);
  for (int32_t of_lane : of_lanes) sum += of_lane;
  return sum;
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_X86_INT8_TABLES_H_
