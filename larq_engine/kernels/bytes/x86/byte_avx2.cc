// Four bytes of a pixel are broadcast and meet those of several filters at once. VPMADDUBSW adds
// two products of bytes in 16 bits and saturates. 2 * 255 * 63 fits, so the row that uses it takes
// weights of at most six planes. For seven planes the other row widens both sides to 16 bits, which
// takes a third more instructions for a product. Two products of six planes would take twice as
// many.
#include "larq_engine/kernels/bytes/x86/byte_avx2.h"

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/common/bits.h"

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
    const uint8_t* run = args.lhs;
    for (size_t s = 0; s < args.segments; ++s, run += args.segment_stride) {
      for (size_t k = 0; k < args.segment_bytes; k += kByteStep, rhs += kCols * kByteStep) {
        const __m256i* columns = reinterpret_cast<const __m256i*>(rhs);
#pragma GCC unroll 4
        for (int i = 0; i < kPixels; ++i) {
          int32_t bytes;
          std::memcpy(&bytes, run + static_cast<size_t>(i) * args.lhs_stride + k, sizeof(bytes));
          const __m256i left = _mm256_set1_epi32(bytes);
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) {
            const __m256i pairs = _mm256_maddubs_epi16(left, _mm256_load_si256(columns + v));
            sum[i][v] = _mm256_add_epi32(sum[i][v], _mm256_madd_epi16(pairs, ones));
          }
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

// The part of the depth that is widened at a time: 4 kB for a tile's pixels.
constexpr size_t kWideDepth = 512;
constexpr size_t kWideCols = 8;
constexpr size_t kWidePixels = 4;  // with 5 gcc 12 spills sums: 55 GMAC/s and not 67

void Widen(const uint8_t* bytes, size_t count, int16_t* wide) {
  size_t k = 0;
  for (; k + 16 <= count; k += 16) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + k));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(wide + k), _mm256_cvtepu8_epi16(some));
  }
  for (; k < count; ++k) wide[k] = bytes[k];
}

inline __m256i WidenWeights(const int8_t* weights) {
  return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(weights)));
}

// Adds the products of a part of the depth to `before`, which has 8 numbers for all pixels or for
// each. A lane has two of the four products of a filter.
template <int kPixels>
void MultiplyWide(const int16_t* left, size_t depth, const int8_t* rhs, const int32_t* before,
                  size_t before_stride, size_t cols, int32_t* acc, size_t acc_stride) {
  __m256i sum[kPixels][2];
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) sum[i][0] = sum[i][1] = _mm256_setzero_si256();
  for (size_t k = 0; k < depth; k += kByteStep, rhs += kWideCols * kByteStep) {
    const __m256i low = WidenWeights(rhs);
    const __m256i high = WidenWeights(rhs + kWideCols * kByteStep / 2);
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      int64_t four;
      std::memcpy(&four, left + static_cast<size_t>(i) * kWideDepth + k, sizeof(four));
      const __m256i pixel = _mm256_set1_epi64x(four);
      sum[i][0] = _mm256_add_epi32(sum[i][0], _mm256_madd_epi16(pixel, low));
      sum[i][1] = _mm256_add_epi32(sum[i][1], _mm256_madd_epi16(pixel, high));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i, acc += acc_stride, before += before_stride) {
    const __m256i pairs = _mm256_hadd_epi32(sum[i][0], sum[i][1]);
    const __m256i total = _mm256_permute4x64_epi64(pairs, 0xd8);
    alignas(32) int32_t sums[kWideCols];
    if (cols >= kWideCols) {
      const __m256i old = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(before));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(acc), _mm256_add_epi32(total, old));
    } else {
      _mm256_store_si256(reinterpret_cast<__m256i*>(sums), total);
      for (size_t j = 0; j < cols; ++j) {
        acc[j] =
            static_cast<int32_t>(static_cast<uint32_t>(before[j]) + static_cast<uint32_t>(sums[j]));
      }
    }
  }
}

template <int kPixels>
void MultiplyWidePixels(const ByteArgs& args) {
  alignas(32) int16_t left[kPixels * kWideDepth];
  const int8_t* part = args.rhs;
  for (size_t s = 0; s < args.segments; ++s) {
    const uint8_t* run = args.lhs + s * args.segment_stride;
    for (size_t first = 0; first < args.segment_bytes; first += kWideDepth) {
      const size_t rest = args.segment_bytes - first;
      const size_t depth = rest < kWideDepth ? rest : kWideDepth;
      for (size_t i = 0; i < kPixels; ++i) {
        Widen(run + i * args.lhs_stride + first, depth, left + i * kWideDepth);
      }
      const bool starts = part == args.rhs;
      const int8_t* rhs = part;
      for (size_t j = 0; j < args.n; j += kWideCols, rhs += DepthOf(args) * kWideCols) {
        MultiplyWide<kPixels>(left, depth, rhs, starts ? args.start + j : args.acc + j,
                              starts ? 0 : args.acc_stride, args.n - j, args.acc + j,
                              args.acc_stride);
      }
      part += depth * kWideCols;
    }
  }
}

}  // namespace

// For a smaller m it takes a smaller tile, so that nothing is multiplied needlessly.
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

void BytesI32_4x8x4Avx2(const ByteArgs& args) {
  switch (args.m) {
    case 1:
      return MultiplyWidePixels<1>(args);
    case 2:
      return MultiplyWidePixels<2>(args);
    case 3:
      return MultiplyWidePixels<3>(args);
    default:
      return MultiplyWidePixels<kWidePixels>(args);
  }
}

// Each byte of a word goes to the lanes of its eight channels, then each lane keeps its own bit.
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
