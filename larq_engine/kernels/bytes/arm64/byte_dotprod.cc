// Lanes are output channels: an SDOT multiplies the four bytes of each of four filters with four
// bytes of a pixel, which are one lane of a vector, and adds the products to 32 bits. A tile has
// four pixels by 16 filters; with six gcc 12 moves sums about, and takes 6 % more cycles.
#include "larq_engine/kernels/bytes/arm64/byte_dotprod.h"

// Before gcc assigns registers it would move loads up, and sums would no longer fit.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns")
#endif

#include <cstring>

#include "larq_engine/kernels/bytes/arm64/byte_tile.h"

#if !defined(__ARM_FEATURE_DOTPROD)
#error "this file is built with the flags of ISA_COPTS[\"dotprod\"]"
#endif

namespace larq_engine {
namespace {

constexpr int kMostPixels = 4;
constexpr int kVectors = 4;
constexpr size_t kLanes = 4;
constexpr size_t kCols = kVectors * kLanes;
constexpr size_t kStepBytes = kCols * kByteStep;     // of the right side
constexpr size_t kVectorBytes = kLanes * kByteStep;  // of a pixel's bytes that are loaded together

// Adds the products of one lane of each pixel's bytes with a step of the filters.
template <int kLane, int kPixels>
[[gnu::always_inline]] inline void AddLane(const int8x16_t (&bytes)[kPixels], const int8_t* filters,
                                           int32x4_t (&sum)[kPixels][kVectors]) {
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const int8x16_t weights = vld1q_s8(filters + static_cast<size_t>(v) * kVectorBytes);
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      sum[i][v] = vdotq_laneq_s32(sum[i][v], weights, bytes[i], kLane);
    }
  }
}

template <int kPixels>
void MultiplyTile(const ByteArgs& args, size_t first, size_t column) {
  int32x4_t sum[kPixels][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[i][v] = vld1q_s32(args.start + column + static_cast<size_t>(v) * kLanes);
    }
  }
  const int8_t* rhs = args.rhs + column * DepthOf(args);
  for (size_t s = 0; s < args.segments; ++s) {
    const int8_t* runs[kPixels];
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      runs[i] = LeftRow(args, first + static_cast<size_t>(i)) + s * args.segment_stride;
    }
    int8x16_t bytes[kPixels];
    size_t k = 0;
    for (; k + kVectorBytes <= args.segment_bytes; k += kVectorBytes) {
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) bytes[i] = vld1q_s8(runs[i] + k);
      AddLane<0>(bytes, rhs, sum);
      AddLane<1>(bytes, rhs + kStepBytes, sum);
      AddLane<2>(bytes, rhs + 2 * kStepBytes, sum);
      AddLane<3>(bytes, rhs + 3 * kStepBytes, sum);
      rhs += kLanes * kStepBytes;
    }
    for (; k < args.segment_bytes; k += kByteStep, rhs += kStepBytes) {
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        int32_t four;
        std::memcpy(&four, runs[i] + k, sizeof(four));
        bytes[i] = vreinterpretq_s8_s32(vdupq_n_s32(four));
      }
      AddLane<0>(bytes, rhs, sum);
    }
  }
  int32_t* acc = args.acc + first * args.acc_stride + column;
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i, acc += args.acc_stride) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * kLanes;
      if (column + at < args.n) StoreSums(acc + at, args.n - column - at, sum[i][v]);
    }
  }
}

}  // namespace

void BytesI32_12x16x4Dotprod(const ByteArgs& args) {
  for (size_t column = 0; column < args.n; column += kCols) {
    ForPixels<kMostPixels>(
        args.m, [&]<int kPixels>(size_t first) { MultiplyTile<kPixels>(args, first, column); });
  }
}

}  // namespace larq_engine
