// As with AVX-512 and VNNI (signed_sums_avx512vnni.cc), but for VPMADDUBSW, which adds up two
// products in 16 bits: those hold the sums of some words, which then go to accumulators of 32.
#include "larq_engine/kernels/x86/signed_sums_avx2.h"

#include <immintrin.h>

#include <cstring>

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kWordInputs = 32;
constexpr size_t kLanes = 8;
constexpr size_t kVectors = kSignedLanes / kLanes;  // of a block

// Two accumulators of 16 bits: products with 1 or 2 for one of them, for the other, whose bits were
// moved, likewise. A word adds up to 4 pairs of inputs, twice: at most 4 * 2 * 128 * 2.
constexpr int kShifts = 2;
constexpr size_t kWordsIn16Bits = 16;

inline __m256i BroadcastFour(const int8_t* inputs) {
  int32_t four;
  std::memcpy(&four, inputs, sizeof(four));
  return _mm256_set1_epi32(four);
}

inline int32_t SumOfAll(const int8_t* inputs, size_t words) {
  int32_t sum = 0;
  for (size_t i = 0; i < words * kWordInputs; ++i) sum += inputs[i];
  return sum;
}

inline __m256i AddPairs(__m256i v) { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

template <size_t kCount>  // vectors of 8 outputs, of which a block has two
void Int8Vectors(const Int8SumsArgs& args, size_t first, int32_t all) {
  __m256i minus[kCount];
  for (__m256i& sum : minus) sum = _mm256_setzero_si256();
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t from = 0; from < args.words; from += kWordsIn16Bits) {
    const size_t left = args.words - from;
    const size_t to = from + (left < kWordsIn16Bits ? left : kWordsIn16Bits);
    __m256i acc[kCount][kShifts];
    for (auto& of_vector : acc) {
      for (__m256i& sum : of_vector) sum = _mm256_setzero_si256();
    }
    for (size_t w = from; w < to; ++w) {
      __m256i bits[kCount];
#pragma GCC unroll 16
      for (size_t v = 0; v < kCount; ++v) {
        const uint32_t* word =
            signs + (v / kVectors * args.words + w) * kSignedLanes + v % kVectors * kLanes;
        bits[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(word));
      }
      for (int j = 0; j < 8; j += kShifts) {
#pragma GCC unroll 16
        for (int s = 0; s < kShifts; ++s) {
          const __m256i mask = _mm256_set1_epi8(static_cast<char>(1 << s));
          const __m256i four = BroadcastFour(args.inputs + w * kWordInputs + 4 * (j + s));
#pragma GCC unroll 16
          for (size_t v = 0; v < kCount; ++v) {
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_and_si256(bits[v], mask), four);
            acc[v][s] = _mm256_add_epi16(acc[v][s], pairs);
          }
        }
#pragma GCC unroll 16
        for (size_t v = 0; v < kCount; ++v) bits[v] = _mm256_srli_epi16(bits[v], kShifts);
      }
    }
#pragma GCC unroll 16
    for (size_t v = 0; v < kCount; ++v) {
      const __m256i twos = _mm256_srai_epi32(AddPairs(acc[v][1]), 1);
      minus[v] = _mm256_add_epi32(minus[v], _mm256_add_epi32(AddPairs(acc[v][0]), twos));
    }
  }
#pragma GCC unroll 16
  for (size_t v = 0; v < kCount; ++v) {
    const __m256i sum = _mm256_sub_epi32(_mm256_set1_epi32(all), _mm256_slli_epi32(minus[v], 1));
    int32_t* to = args.sums + first * kSignedLanes + v * kLanes;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum);
  }
}

void OfInt8(const Int8SumsArgs& args) {
  const int32_t all = SumOfAll(args.inputs, args.words);
  size_t block = 0;
  for (; block + 2 <= args.blocks; block += 2) Int8Vectors<2 * kVectors>(args, block, all);
  if (block < args.blocks) Int8Vectors<kVectors>(args, block, all);
}

// Lane l has the signs of three inputs in its bits.
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
        const __m256 of_plus = _mm256_permutevar8x32_ps(plus, bits[v]);  // by three bits
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

constexpr SignedSums kSignedSumsAvx2 = {.of_int8 = OfInt8, .of_float = OfFloat};

}  // namespace larq_engine
