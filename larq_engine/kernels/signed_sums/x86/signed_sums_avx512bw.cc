// For four inputs, sixteen sums are looked up for 16 outputs in each quarter of a vector. The two
// digits of sums are added up in bytes, then in 16 bits, then in 32.
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx512bw.h"

// gcc 12 warns about the values that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "larq_engine/kernels/signed_sums/x86/int8_tables.h"

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kWordInputs = 32;
// Bytes hold eight look-ups, 16 bits hold eight times eight of at most 1023.
constexpr size_t kWordsInBytes = 4;
constexpr size_t kWordsIn16Bits = 32;

// Adds the lower or upper 8 outputs of a block, in four quarters, and widens them to 32 bits and
// two quarters.
inline __m512i AddQuarters(__m512i sums, __m512i quarters) {
  const __m512i first = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(quarters));
  const __m512i second = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(quarters, 1));
  return _mm512_add_epi32(sums, _mm512_add_epi32(first, second));
}

inline void StoreSums(int32_t base, __m512i halves, int32_t* to) {
  const __m256i minus =
      _mm256_add_epi32(_mm512_castsi512_si256(halves), _mm512_extracti64x4_epi64(halves, 1));
  const __m256i sums = _mm256_sub_epi32(_mm256_set1_epi32(base), _mm256_slli_epi32(minus, 1));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
}

template <size_t kBlocks>
void Int8Blocks(const Int8SumsArgs& args, size_t first) {
  const __m512i low_bits = _mm512_set1_epi8(15);
  const __m512i digits = _mm512_set1_epi16(32 << 8 | 1);
  __m512i minus[kBlocks][2];
  for (auto& of_block : minus) of_block[0] = of_block[1] = _mm512_setzero_si512();
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words;) {
    const size_t end_16 = w + kWordsIn16Bits < args.words ? w + kWordsIn16Bits : args.words;
    __m512i acc[kBlocks][2];
    for (auto& of_block : acc) of_block[0] = of_block[1] = _mm512_setzero_si512();
    while (w < end_16) {
      const size_t end = w + kWordsInBytes < end_16 ? w + kWordsInBytes : end_16;
      __m512i low[kBlocks], high[kBlocks];
      for (size_t b = 0; b < kBlocks; ++b) low[b] = high[b] = _mm512_setzero_si512();
      for (; w < end; ++w) {
        const Int8Tables& tables = args.tables[w];
        const __m512i low_0 = _mm512_load_si512(tables.low[0]);
        const __m512i low_1 = _mm512_load_si512(tables.low[1]);
        const __m512i high_0 = _mm512_load_si512(tables.high[0]);
        const __m512i high_1 = _mm512_load_si512(tables.high[1]);
#pragma GCC unroll 16
        for (size_t b = 0; b < kBlocks; ++b) {
          const __m512i bits = _mm512_load_si512(signs + (b * args.words + w) * kSignedLanes);
          const __m512i at_0 = _mm512_and_si512(bits, low_bits);
          const __m512i at_1 = _mm512_and_si512(_mm512_srli_epi16(bits, 4), low_bits);
          low[b] = _mm512_add_epi8(low[b], _mm512_shuffle_epi8(low_0, at_0));
          high[b] = _mm512_add_epi8(high[b], _mm512_shuffle_epi8(high_0, at_0));
          low[b] = _mm512_add_epi8(low[b], _mm512_shuffle_epi8(low_1, at_1));
          high[b] = _mm512_add_epi8(high[b], _mm512_shuffle_epi8(high_1, at_1));
        }
      }
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) {
        const __m512i lower = _mm512_unpacklo_epi8(low[b], high[b]);
        const __m512i upper = _mm512_unpackhi_epi8(low[b], high[b]);
        acc[b][0] = _mm512_add_epi16(acc[b][0], _mm512_maddubs_epi16(lower, digits));
        acc[b][1] = _mm512_add_epi16(acc[b][1], _mm512_maddubs_epi16(upper, digits));
      }
    }
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      minus[b][0] = AddQuarters(minus[b][0], acc[b][0]);
      minus[b][1] = AddQuarters(minus[b][1], acc[b][1]);
    }
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < kBlocks; ++b) {
    int32_t* to = args.sums + (first + b) * kSignedLanes;
    StoreSums(args.base, minus[b][0], to);
    StoreSums(args.base, minus[b][1], to + kSignedLanes / 2);
  }
}

void OfInt8(const Int8SumsArgs& args) {
  size_t block = 0;
  for (; block + 4 <= args.blocks; block += 4) Int8Blocks<4>(args, block);
  for (; block < args.blocks; ++block) Int8Blocks<1>(args, block);
}

// Returns in each lane l the sum of four inputs whose signs are the bits of l.
inline __m512 SumsOfFour(const float* inputs, const __m512i* signs) {
  __m512 sums = _mm512_setzero_ps();
  for (int i = 0; i < 4; ++i) {
    const __m512i value = _mm512_castps_si512(_mm512_set1_ps(inputs[i]));
    const __m512 with_sign = _mm512_castsi512_ps(_mm512_xor_si512(value, signs[i]));
    sums = i == 0 ? with_sign : _mm512_add_ps(sums, with_sign);
  }
  return sums;
}

template <size_t kBlocks>
void FloatBlocks(const FloatSumsArgs& args, size_t first) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i lane_signs[4];
  for (unsigned i = 0; i < 4; ++i) {
    lane_signs[i] = _mm512_slli_epi32(_mm512_srli_epi32(lanes, i), 31);
  }
  __m512 acc[kBlocks];
  for (__m512& sum : acc) sum = _mm512_setzero_ps();
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words; ++w) {
    __m512i bits[kBlocks];
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      bits[b] = _mm512_load_si512(signs + (b * args.words + w) * kSignedLanes);
    }
    for (size_t i = 0; i < kWordInputs; i += 4) {
      const __m512 table = SumsOfFour(args.inputs + w * kWordInputs + i, lane_signs);
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) {
        // Four bits select the lane.
        acc[b] = _mm512_add_ps(acc[b], _mm512_permutexvar_ps(bits[b], table));
        bits[b] = _mm512_srli_epi32(bits[b], 4);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < kBlocks; ++b) {
    _mm512_storeu_ps(args.sums + (first + b) * kSignedLanes, acc[b]);
  }
}

void OfFloat(const FloatSumsArgs& args) {
  size_t block = 0;
  for (; block + 8 <= args.blocks; block += 8) FloatBlocks<8>(args, block);
  for (; block < args.blocks; ++block) FloatBlocks<1>(args, block);
}

}  // namespace

constexpr SignedSums kSignedSumsAvx512bw = {
    .make_tables = MakeInt8TablesAvx2, .of_int8 = OfInt8, .of_float = OfFloat};

}  // namespace larq_engine
