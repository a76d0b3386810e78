// Lanes are output channels: four bytes of a pixel are broadcast and meet those of 16 filters at
// once, and nothing is ever summed across lanes. VPDPBUSD adds four products to each lane without
// saturating. The tile has as many pixels as leave registers for the filters, which come from L2.
#include "larq_engine/kernels/bytes/x86/byte_avx512vnni.h"

#include <immintrin.h>

#include <cstring>

#include "larq_engine/kernels/bytes/x86/expand_avx512bw.h"

#if !defined(__AVX512VNNI__)
#error "this file is built with the flags of ISA_COPTS[\"avx512vnni\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kVectors = 2;
constexpr size_t kLanes = 16;
constexpr size_t kCols = kVectors * kLanes;

inline __mmask16 LanesBelow(size_t cols) {
  return static_cast<__mmask16>(cols >= kLanes ? 0xffff : (1u << cols) - 1);
}

// This is in assembler, because gcc 12 moves every accumulator to another register and back around
// its own intrinsic, which takes twice as long.
inline void MultiplyAdd(__m512i left, __m512i right, __m512i& sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(left), "v"(right));
}

template <int kPixels>
void MultiplyPixels(const ByteArgs& args) {
  const int8_t* rhs = args.rhs;
  for (size_t j = 0; j < args.n; j += kCols) {
    __m512i sum[kPixels][kVectors];
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[i][v] = _mm512_load_si512(args.start + j + v * kLanes);
    }
    const uint8_t* run = args.lhs;
    for (size_t s = 0; s < args.segments; ++s, run += args.segment_stride) {
      for (size_t k = 0; k < args.segment_bytes; k += kByteStep) {
        __m512i column[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          column[v] = _mm512_load_si512(rhs + v * kLanes * kByteStep);
        }
        rhs += kCols * kByteStep;
#pragma GCC unroll 12
        for (int i = 0; i < kPixels; ++i) {
          int32_t bytes;
          std::memcpy(&bytes, run + i * args.lhs_stride + k, sizeof(bytes));
          const __m512i left = _mm512_set1_epi32(bytes);
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v) {
            MultiplyAdd(left, column[v], sum[i][v]);
          }
        }
      }
    }
    int32_t* acc = args.acc + j;
    const size_t cols = args.n - j;
    const __mmask16 first = LanesBelow(cols);
    const __mmask16 second = LanesBelow(cols < kLanes ? 0 : cols - kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < kPixels; ++i, acc += args.acc_stride) {
      _mm512_mask_storeu_epi32(acc, first, sum[i][0]);
      _mm512_mask_storeu_epi32(acc + kLanes, second, sum[i][1]);
    }
  }
}

}  // namespace

// For a smaller m it takes a smaller tile, so that nothing is multiplied needlessly.
void BytesI32_12x32x4Avx512vnni(const ByteArgs& args) {
  switch (args.m) {
    case 1:
      return MultiplyPixels<1>(args);
    case 2:
      return MultiplyPixels<2>(args);
    case 3:
      return MultiplyPixels<3>(args);
    case 4:
      return MultiplyPixels<4>(args);
    case 5:
      return MultiplyPixels<5>(args);
    case 6:
      return MultiplyPixels<6>(args);
    case 7:
      return MultiplyPixels<7>(args);
    case 8:
      return MultiplyPixels<8>(args);
    case 9:
      return MultiplyPixels<9>(args);
    case 10:
      return MultiplyPixels<10>(args);
    case 11:
      return MultiplyPixels<11>(args);
    default:
      return MultiplyPixels<12>(args);
  }
}

void ExpandAvx512vnni(const ExpandArgs& args) { ExpandAvx512bw(args); }

}  // namespace larq_engine
