// Lanes are output channels: four bytes of a pixel are broadcast and meet those of 8 filters at
// once. VPMADDUBSW adds two products in 16 bits, where it would saturate: 2 * 255 * 63 fit, so the
// weights of a product are at most six planes.
#include "larq_engine/kernels/x86/byte_avx2.h"

#include <immintrin.h>

#include <cstring>

#if !defined(__AVX2__)
#error "this file is built with the flags of ISA_COPTS[\"avx2\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kVectors = 2;
constexpr size_t kLanes = 8;
constexpr size_t kCols = kVectors * kLanes;

template <int kPixels>
void MultiplyPixels(const ByteArgs& args) {
  const __m256i ones = _mm256_set1_epi16(1);
  const int8_t* rhs = args.rhs;
  for (size_t j = 0; j < args.n; j += kCols) {
    __m256i sum[kPixels][kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sum[i][v] = _mm256_load_si256(
            reinterpret_cast<const __m256i*>(args.start + j + static_cast<size_t>(v) * kLanes));
      }
    }
    for (size_t k = 0; k < args.depth; k += kByteStep, rhs += kCols * kByteStep) {
      const __m256i* columns = reinterpret_cast<const __m256i*>(rhs);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        int32_t bytes;
        std::memcpy(&bytes, args.lhs + static_cast<size_t>(i) * args.lhs_stride + k, sizeof(bytes));
        const __m256i left = _mm256_set1_epi32(bytes);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const __m256i pairs = _mm256_maddubs_epi16(left, _mm256_load_si256(columns + v));
          sum[i][v] = _mm256_add_epi32(sum[i][v], _mm256_madd_epi16(pairs, ones));
        }
      }
    }
    const size_t cols = args.n - j < kCols ? args.n - j : kCols;
    int32_t* acc = args.acc + j;
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i, acc += args.acc_stride) {
      if (cols == kCols) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(acc) + v, sum[i][v]);
        }
      } else {
        alignas(32) int32_t sums[kCols];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          _mm256_store_si256(reinterpret_cast<__m256i*>(sums) + v, sum[i][v]);
        }
        std::memcpy(acc, sums, cols * sizeof(int32_t));
      }
    }
  }
}

}  // namespace

// Smaller m takes a smaller tile rather than multiplying for nothing.
void BytesI32_4x16x4Avx2(const ByteArgs& args) {
  switch (args.m) {
    case 1:
      return MultiplyPixels<1>(args);
    case 2:
      return MultiplyPixels<2>(args);
    case 3:
      return MultiplyPixels<3>(args);
    default:
      return MultiplyPixels<4>(args);
  }
}

// Each byte of a word is put where its eight channels go, then each keeps its own bit of it.
void ExpandAvx2(const ExpandArgs& args) {
  const __m256i bytes_of_lanes = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2,
                                                  2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i bit_of_lanes = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  for (size_t w = 0; w < args.words; ++w) {
    __m256i bytes = _mm256_setzero_si256();
    __m256i bit = _mm256_set1_epi8(1);
    const uint32_t* run = args.run + w;
    for (size_t p = 0; p < args.planes; ++p, run += args.plane_words) {
      const __m256i word = _mm256_set1_epi32(static_cast<int>(*run));
      const __m256i spread =
          _mm256_and_si256(_mm256_shuffle_epi8(word, bytes_of_lanes), bit_of_lanes);
      const __m256i is_set = _mm256_cmpeq_epi8(spread, bit_of_lanes);
      bytes = _mm256_or_si256(bytes, _mm256_and_si256(is_set, bit));
      bit = _mm256_add_epi8(bit, bit);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(args.bytes + w * kWordBits), bytes);
  }
}

}  // namespace larq_engine
