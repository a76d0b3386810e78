// Computes the sums as AVX-512 does (signed_sums_avx512bw.cc), but a vector has two quarters.
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx2.h"

#include <immintrin.h>

#include "larq_engine/kernels/signed_sums/x86/int8_tables.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kWordInputs = 32;
constexpr size_t kLanes = 8;
constexpr size_t kVectors = kSignedLanes / kLanes;  // vectors of a block

// Bytes hold eight look-ups, 16 bits hold eight times eight of at most 1023. A word takes four
// look-ups.
constexpr size_t kWordsInBytes = 2;
constexpr size_t kWordsIn16Bits = 16;

inline __m256i LoadTables(const uint8_t* table) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(table));
}

// Adds 8 outputs in two halves, and widens them to 32 bits.
inline __m256i AddHalves(__m256i sums, __m256i halves) {
  const __m256i first = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(halves));
  const __m256i second = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(halves, 1));
  return _mm256_add_epi32(sums, _mm256_add_epi32(first, second));
}

inline void StoreSums(int32_t base, __m256i minus, int32_t* to) {
  const __m256i sums = _mm256_sub_epi32(_mm256_set1_epi32(base), _mm256_slli_epi32(minus, 1));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
}

template <size_t kBlocks>
void Int8Blocks(const Int8SumsArgs& args, size_t first) {
  const __m256i low_bits = _mm256_set1_epi8(15);
  const __m256i digits = _mm256_set1_epi16(32 << 8 | 1);
  __m256i minus[kBlocks][2];
  for (auto& of_block : minus) of_block[0] = of_block[1] = _mm256_setzero_si256();
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words;) {
    const size_t end_16 = w + kWordsIn16Bits < args.words ? w + kWordsIn16Bits : args.words;
    __m256i acc[kBlocks][2];
    for (auto& of_block : acc) of_block[0] = of_block[1] = _mm256_setzero_si256();
    while (w < end_16) {
      const size_t end = w + kWordsInBytes < end_16 ? w + kWordsInBytes : end_16;
      __m256i low[kBlocks], high[kBlocks];
      for (size_t b = 0; b < kBlocks; ++b) low[b] = high[b] = _mm256_setzero_si256();
      for (; w < end; ++w) {
        const Int8Tables& tables = args.tables[w];
        for (size_t half = 0; half < 2; ++half) {
          const __m256i low_0 = LoadTables(tables.low[0] + 32 * half);
          const __m256i low_1 = LoadTables(tables.low[1] + 32 * half);
          const __m256i high_0 = LoadTables(tables.high[0] + 32 * half);
          const __m256i high_1 = LoadTables(tables.high[1] + 32 * half);
#pragma GCC unroll 16
          for (size_t b = 0; b < kBlocks; ++b) {
            const uint32_t* word = signs + (b * args.words + w) * kSignedLanes + half * kLanes;
            const __m256i bits = _mm256_load_si256(reinterpret_cast<const __m256i*>(word));
            const __m256i at_0 = _mm256_and_si256(bits, low_bits);
            const __m256i at_1 = _mm256_and_si256(_mm256_srli_epi16(bits, 4), low_bits);
            low[b] = _mm256_add_epi8(low[b], _mm256_shuffle_epi8(low_0, at_0));
            high[b] = _mm256_add_epi8(high[b], _mm256_shuffle_epi8(high_0, at_0));
            low[b] = _mm256_add_epi8(low[b], _mm256_shuffle_epi8(low_1, at_1));
            high[b] = _mm256_add_epi8(high[b], _mm256_shuffle_epi8(high_1, at_1));
          }
        }
      }
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) {
        const __m256i lower = _mm256_unpacklo_epi8(low[b], high[b]);
        const __m256i upper = _mm256_unpackhi_epi8(low[b], high[b]);
        acc[b][0] = _mm256_add_epi16(acc[b][0], _mm256_maddubs_epi16(lower, digits));
        acc[b][1] = _mm256_add_epi16(acc[b][1], _mm256_maddubs_epi16(upper, digits));
      }
    }
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      minus[b][0] = AddHalves(minus[b][0], acc[b][0]);
      minus[b][1] = AddHalves(minus[b][1], acc[b][1]);
    }
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < kBlocks; ++b) {
    int32_t* to = args.sums + (first + b) * kSignedLanes;
    StoreSums(args.base, minus[b][0], to);
    StoreSums(args.base, minus[b][1], to + kLanes);
  }
}

void OfInt8(const Int8SumsArgs& args) {
  size_t block = 0;
  for (; block + 2 <= args.blocks; block += 2) Int8Blocks<2>(args, block);
  if (block < args.blocks) Int8Blocks<1>(args, block);
}

// Sets the sign of the input in each lane: the bits of lane l are the signs of three inputs.
inline __m256 WithSigns(const float* input, __m256i signs) {
  const __m256i value = _mm256_castps_si256(_mm256_set1_ps(*input));
  return _mm256_castsi256_ps(_mm256_xor_si256(value, signs));
}

template <size_t kCount>
void FloatVectors(const FloatSumsArgs& args, size_t first) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i signs_0 = _mm256_slli_epi32(lanes, 31);
  const __m256i signs_1 = _mm256_slli_epi32(_mm256_srli_epi32(lanes, 1), 31);
  const __m256i signs_2 = _mm256_slli_epi32(_mm256_srli_epi32(lanes, 2), 31);
  __m256 acc[kCount];
  for (__m256& sum : acc) sum = _mm256_setzero_ps();
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words; ++w) {
    __m256i bits[kCount];
#pragma GCC unroll 16
    for (size_t v = 0; v < kCount; ++v) {
      const uint32_t* word =
          signs + (v / kVectors * args.words + w) * kSignedLanes + v % kVectors * kLanes;
      bits[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(word));
    }
    for (size_t i = 0; i < kWordInputs; i += 4) {
      const float* inputs = args.inputs + w * kWordInputs + i;
      const __m256 two = _mm256_add_ps(WithSigns(inputs, signs_0), WithSigns(inputs + 1, signs_1));
      const __m256 three = _mm256_add_ps(two, WithSigns(inputs + 2, signs_2));
      const __m256 last = _mm256_set1_ps(inputs[3]);
      const __m256 plus = _mm256_add_ps(three, last), minus = _mm256_sub_ps(three, last);
#pragma GCC unroll 16
      for (size_t v = 0; v < kCount; ++v) {
        const __m256 of_plus = _mm256_permutevar8x32_ps(plus, bits[v]);  // selects by three bits
        const __m256 of_minus = _mm256_permutevar8x32_ps(minus, bits[v]);
        const __m256 top = _mm256_castsi256_ps(_mm256_slli_epi32(bits[v], 28));
        acc[v] = _mm256_add_ps(acc[v], _mm256_blendv_ps(of_plus, of_minus, top));
        bits[v] = _mm256_srli_epi32(bits[v], 4);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t v = 0; v < kCount; ++v) {
    _mm256_storeu_ps(args.sums + first * kSignedLanes + v * kLanes, acc[v]);
  }
}

void OfFloat(const FloatSumsArgs& args) {
  size_t block = 0;
  for (; block + 2 <= args.blocks; block += 2) FloatVectors<2 * kVectors>(args, block);
  if (block < args.blocks) FloatVectors<kVectors>(args, block);
}

}  // namespace

constexpr SignedSums kSignedSumsAvx2 = {
    .make_tables = MakeInt8TablesAvx2, .of_int8 = OfInt8, .of_float = OfFloat};

}  // namespace larq_engine
