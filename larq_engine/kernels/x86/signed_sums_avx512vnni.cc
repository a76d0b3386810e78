// A bit of each byte of the weights, left where it is, is 2^j or 0: VPDPBUSD multiplies it with
// four inputs and adds up the products. Sums of inputs that are 2^j times too large have
// accumulators of their own, and are shifted back at the end. So 64 weights take two instructions.
#include "larq_engine/kernels/x86/signed_sums_avx512vnni.h"

#include <cstring>

// gcc 12 warns of the values that its own header leaves undefined on purpose.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#if !defined(__AVX512VNNI__)
#error "this file is built with the flags of ISA_COPTS[\"avx512vnni\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kWordInputs = 32;
constexpr int kShifts = 4;  // accumulators of a block: half a byte's bits, then the other half's

inline __m512i BroadcastFour(const int8_t* inputs) {
  int32_t four;
  std::memcpy(&four, inputs, sizeof(four));
  return _mm512_set1_epi32(four);
}

inline __m512i SumOfAll(const int8_t* inputs, size_t words) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i sum = _mm256_setzero_si256();
  for (size_t w = 0; w < words; ++w) {
    const auto* word = reinterpret_cast<const __m256i*>(inputs + w * kWordInputs);
    sum = _mm256_dpbusd_epi32(sum, ones, _mm256_loadu_si256(word));
  }
  const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm512_broadcastd_epi32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

template <size_t kBlocks>
void Int8Blocks(const Int8SumsArgs& args, size_t first, __m512i all) {
  __m512i acc[kBlocks][kShifts];
  for (auto& of_block : acc) {
    for (__m512i& sum : of_block) sum = _mm512_setzero_si512();
  }
  const uint32_t* signs = args.signs + first * args.words * kSignedLanes;
  for (size_t w = 0; w < args.words; ++w) {
    __m512i bits[kBlocks];
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      bits[b] = _mm512_load_si512(signs + (b * args.words + w) * kSignedLanes);
    }
    const int8_t* inputs = args.inputs + w * kWordInputs;
    for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 16
      for (int j = 0; j < kShifts; ++j) {
        const __m512i mask = _mm512_set1_epi8(static_cast<char>(1 << j));
        const __m512i four = BroadcastFour(inputs + 4 * (half * kShifts + j));
#pragma GCC unroll 16
        for (size_t b = 0; b < kBlocks; ++b) {
          acc[b][j] = _mm512_dpbusd_epi32(acc[b][j], _mm512_and_si512(bits[b], mask), four);
        }
      }
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) bits[b] = _mm512_srli_epi16(bits[b], kShifts);
    }
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < kBlocks; ++b) {
    __m512i minus = acc[b][0];
    for (unsigned j = 1; j < kShifts; ++j) {
      minus = _mm512_add_epi32(minus, _mm512_srai_epi32(acc[b][j], j));
    }
    const __m512i sum = _mm512_sub_epi32(all, _mm512_slli_epi32(minus, 1));
    _mm512_storeu_si512(args.sums + (first + b) * kSignedLanes, sum);
  }
}

void OfInt8(const Int8SumsArgs& args) {
  const __m512i all = SumOfAll(args.inputs, args.words);
  size_t block = 0;
  for (; block + 4 <= args.blocks; block += 4) Int8Blocks<4>(args, block, all);
  for (; block < args.blocks; ++block) Int8Blocks<1>(args, block, all);
}

// Lane l has the signs of four inputs in its bits: the sum of these inputs.
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
        acc[b] = _mm512_add_ps(acc[b], _mm512_permutexvar_ps(bits[b], table));  // by four bits
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

constexpr SignedSums kSignedSumsAvx512vnni = {.of_int8 = OfInt8, .of_float = OfFloat};

}  // namespace larq_engine
