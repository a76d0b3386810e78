// Computes the sums of signed_sums_vectors.h; a vector of bytes is half a word of all outputs.
#include "larq_engine/kernels/signed_sums/x86/signed_sums_avx2.h"

#include <immintrin.h>

#include "larq_engine/kernels/signed_sums/signed_sums_vectors.h"
#include "larq_engine/kernels/signed_sums/x86/int8_tables.h"

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

struct Vec32 {
  using Bytes = __m256i;
  using Sums = __m256i;
  using Wide = __m256i;
  static constexpr size_t kBytes = 32;
  static constexpr size_t kInt8Blocks = 2;
  static Bytes Load(const void* from) {
    return _mm256_load_si256(static_cast<const __m256i*>(from));
  }
  static Bytes LowBits(Bytes bits) { return _mm256_and_si256(bits, _mm256_set1_epi8(15)); }
  static Bytes HighBits(Bytes bits) { return LowBits(_mm256_srli_epi16(bits, 4)); }
  static Bytes LookUp(Bytes tables, Bytes at) { return _mm256_shuffle_epi8(tables, at); }
  static Bytes Add(Bytes a, Bytes b) { return _mm256_add_epi8(a, b); }
  static void AddDigits(Sums (&sums)[2], Bytes low, Bytes high) {
    const __m256i digits = _mm256_set1_epi16(32 << 8 | 1);
    const __m256i lower = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(low, high), digits);
    const __m256i upper = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(low, high), digits);
    sums[0] = _mm256_add_epi16(sums[0], lower);
    sums[1] = _mm256_add_epi16(sums[1], upper);
  }
  // Adds two halves, and widens them to 32 bits.
  static Wide AddSums(Wide sums, Sums halves) {
    const __m256i first = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(halves));
    const __m256i second = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(halves, 1));
    return _mm256_add_epi32(sums, _mm256_add_epi32(first, second));
  }
  static void StoreSums(int32_t base, Wide minus, int32_t* to) {
    const __m256i sums = _mm256_sub_epi32(_mm256_set1_epi32(base), _mm256_slli_epi32(minus, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
  }

  using Floats = __m256;
  using Words = __m256i;
  static constexpr size_t kFloats = 8;
  static constexpr size_t kFloatBlocks = 2;
  static Words LoadWords(const uint32_t* from) { return Load(from); }
  static Words NextFour(Words words) { return _mm256_srli_epi32(words, 4); }
  static Floats Add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static void Store(float* to, Floats x) { _mm256_storeu_ps(to, x); }

  // The bits of lane l are the signs of three inputs; the fourth is added or subtracted.
  struct Table {
    Floats plus;
    Floats minus;
  };
  struct TableMaker {
    Words signs[3];
    TableMaker() {
      const Words lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      for (int i = 0; i < 3; ++i) {
        signs[i] = _mm256_slli_epi32(_mm256_srli_epi32(lanes, i), 31);
      }
    }
    Floats With(float input, Words sign) const {
      const Words value = _mm256_castps_si256(_mm256_set1_ps(input));
      return _mm256_castsi256_ps(_mm256_xor_si256(value, sign));
    }
    Table operator()(const float* inputs) const {
      const Floats two = Add(With(inputs[0], signs[0]), With(inputs[1], signs[1]));
      const Floats three = Add(two, With(inputs[2], signs[2])), last = _mm256_set1_ps(inputs[3]);
      return {.plus = Add(three, last), .minus = _mm256_sub_ps(three, last)};
    }
  };
  static Floats Select(const Table& table, Words words) {
    const Floats of_plus = _mm256_permutevar8x32_ps(table.plus, words);  // selects by three bits
    const Floats of_minus = _mm256_permutevar8x32_ps(table.minus, words);
    const Floats top = _mm256_castsi256_ps(_mm256_slli_epi32(words, 28));
    return _mm256_blendv_ps(of_plus, of_minus, top);
  }
};

}  // namespace

constexpr SignedSums kSignedSumsAvx2 = {.make_tables = MakeInt8TablesAvx2,
                                        .of_int8 = Int8SumsOfVectors<Vec32>,
                                        .of_float = FloatSumsOfVectors<Vec32>};

}  // namespace larq_engine
