// Computes the sums of signed_sums_vectors.h; a vector of bytes is a whole word of all outputs.
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

#include "larq_engine/kernels/signed_sums/signed_sums_vectors.h"
#include "larq_engine/kernels/signed_sums/x86/int8_tables.h"

#if !defined(__AVX512BW__)
#error "this file is built with the flags of ISA_COPTS[\"avx512bw\"]"
#endif

namespace larq_engine {
namespace {

struct Vec64 {
  using Bytes = __m512i;
  using Sums = __m512i;
  using Wide = __m512i;
  static constexpr size_t kBytes = 64;
  static constexpr size_t kInt8Blocks = 4;
  static Bytes Load(const void* from) { return _mm512_load_si512(from); }
  static Bytes LowBits(Bytes bits) { return _mm512_and_si512(bits, _mm512_set1_epi8(15)); }
  static Bytes HighBits(Bytes bits) { return LowBits(_mm512_srli_epi16(bits, 4)); }
  static Bytes LookUp(Bytes tables, Bytes at) { return _mm512_shuffle_epi8(tables, at); }
  static Bytes Add(Bytes a, Bytes b) { return _mm512_add_epi8(a, b); }
  static void AddDigits(Sums (&sums)[2], Bytes low, Bytes high) {
    const __m512i digits = _mm512_set1_epi16(32 << 8 | 1);
    const __m512i lower = _mm512_maddubs_epi16(_mm512_unpacklo_epi8(low, high), digits);
    const __m512i upper = _mm512_maddubs_epi16(_mm512_unpackhi_epi8(low, high), digits);
    sums[0] = _mm512_add_epi16(sums[0], lower);
    sums[1] = _mm512_add_epi16(sums[1], upper);
  }
  // Adds four quarters, and widens them to 32 bits and two quarters.
  static Wide AddSums(Wide halves, Sums quarters) {
    const __m512i first = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(quarters));
    const __m512i second = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(quarters, 1));
    return _mm512_add_epi32(halves, _mm512_add_epi32(first, second));
  }
  static void StoreSums(int32_t base, Wide halves, int32_t* to) {
    const __m256i minus =
        _mm256_add_epi32(_mm512_castsi512_si256(halves), _mm512_extracti64x4_epi64(halves, 1));
    const __m256i sums = _mm256_sub_epi32(_mm256_set1_epi32(base), _mm256_slli_epi32(minus, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
  }

  using Floats = __m512;
  using Words = __m512i;
  static constexpr size_t kFloats = 16;
  static constexpr size_t kFloatBlocks = 8;
  static Words LoadWords(const uint32_t* from) { return _mm512_load_si512(from); }
  static Words NextFour(Words words) { return _mm512_srli_epi32(words, 4); }
  static Floats Add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static void Store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
  static Floats Select(Floats table, Words words) { return _mm512_permutexvar_ps(words, table); }

  // Lane l of a table is the sum whose signs are the bits of l.
  struct TableMaker {
    Words signs[4];
    TableMaker() {
      const Words lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
      for (unsigned i = 0; i < 4; ++i) {
        signs[i] = _mm512_slli_epi32(_mm512_srli_epi32(lanes, i), 31);
      }
    }
    Floats With(float input, Words sign) const {
      const Words value = _mm512_castps_si512(_mm512_set1_ps(input));
      return _mm512_castsi512_ps(_mm512_xor_si512(value, sign));
    }
    Floats operator()(const float* inputs) const {
      Floats sums = With(inputs[0], signs[0]);
      for (int i = 1; i < 4; ++i) sums = Add(sums, With(inputs[i], signs[i]));
      return sums;
    }
  };
};

}  // namespace

constexpr SignedSums kSignedSumsAvx512bw = {.make_tables = MakeInt8TablesAvx2,
                                            .of_int8 = Int8SumsOfVectors<Vec64>,
                                            .of_float = FloatSumsOfVectors<Vec64>};

}  // namespace larq_engine
