// Four bytes of a pixel fill a vector and meet those of several filters. SMULL and SMLAL add two
// products in 16 bits, where 2 * 128 * 127 fits, and SADALP adds pairs of these to 32 bits: three
// instructions for 16 products, of which only two take the unit that multiplies. Unsigned bytes
// would take a fourth, because two of their products do not fit 16 bits. A lane has two of the four
// products of a filter, so a tile of four pixels by eight filters has 16 vectors of sums.
#include "larq_engine/kernels/bytes/arm64/byte_neon.h"

#include <cstring>

#include "larq_engine/kernels/bytes/arm64/byte_tile.h"
#include "larq_engine/kernels/common/bits.h"

namespace larq_engine {
namespace {

constexpr int kMostPixels = 4;
constexpr size_t kCols = 8;
constexpr size_t kStepBytes = kCols * kByteStep;  // of the right side
constexpr size_t kVectorBytes = 16;
constexpr int kSums = 4;  // vectors of a pixel's sums

// Adds the products of eight bytes of a pixel, those of two steps, with the steps' filters.
[[gnu::always_inline]] inline void AddProducts(int32x2_t bytes, const int8x16_t (&first)[2],
                                               const int8x16_t (&second)[2],
                                               int32x4_t (&sums)[kSums]) {
  const int8x16_t four = vreinterpretq_s8_s32(vdupq_lane_s32(bytes, 0));
  const int8x16_t next_four = vreinterpretq_s8_s32(vdupq_lane_s32(bytes, 1));
  int16x8_t pairs[kSums];
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    pairs[2 * v] = vmull_s8(vget_low_s8(four), vget_low_s8(first[v]));
    pairs[2 * v + 1] = vmull_high_s8(four, first[v]);
  }
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    pairs[2 * v] = vmlal_s8(pairs[2 * v], vget_low_s8(next_four), vget_low_s8(second[v]));
    pairs[2 * v + 1] = vmlal_high_s8(pairs[2 * v + 1], next_four, second[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kSums; ++v) sums[v] = vpadalq_s16(sums[v], pairs[v]);
}

template <int kPixels>
void MultiplyTile(const ByteArgs& args, size_t first, size_t column) {
  int32x4_t sum[kPixels][kSums];
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kSums; ++v) sum[i][v] = vdupq_n_s32(0);
  }
  const int8_t* rhs = args.rhs + column * DepthOf(args);
  for (size_t s = 0; s < args.segments; ++s) {
    const int8_t* runs[kPixels];
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      runs[i] = LeftRow(args, first + static_cast<size_t>(i)) + s * args.segment_stride;
    }
    for (size_t k = 0; k < args.segment_bytes; k += 2 * kByteStep, rhs += 2 * kStepBytes) {
      const int8x16_t step[2] = {vld1q_s8(rhs), vld1q_s8(rhs + kVectorBytes)};
      const int8x16_t next_step[2] = {vld1q_s8(rhs + kStepBytes),
                                      vld1q_s8(rhs + kStepBytes + kVectorBytes)};
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        AddProducts(vreinterpret_s32_s8(vld1_s8(runs[i] + k)), step, next_step, sum[i]);
      }
    }
  }
  int32_t* acc = args.acc + first * args.acc_stride + column;
  const size_t cols = args.n - column;
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i, acc += args.acc_stride) {
    const int32x4_t low = vpaddq_s32(sum[i][0], sum[i][1]);
    StoreSums(acc, cols, vaddq_s32(low, vld1q_s32(args.start + column)));
    if (cols <= kCols / 2) continue;
    const int32x4_t high = vpaddq_s32(sum[i][2], sum[i][3]);
    StoreSums(acc + kCols / 2, cols - kCols / 2,
              vaddq_s32(high, vld1q_s32(args.start + column + kCols / 2)));
  }
}

}  // namespace

void BytesI32_12x8x8Neon(const ByteArgs& args) {
  for (size_t column = 0; column < args.n; column += kCols) {
    ForPixels<kMostPixels>(
        args.m, [&]<int kPixels>(size_t first) { MultiplyTile<kPixels>(args, first, column); });
  }
}

// Each byte of a word goes to the lanes of its eight channels, and each lane tests its own bit.
void ExpandNeon(const ExpandArgs& args) {
  const uint8x16_t low_lanes = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
  const uint8x16_t high_lanes = vcombine_u8(vdup_n_u8(2), vdup_n_u8(3));
  const uint8x16_t bit_of_lanes = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
  for (size_t w = 0; w < args.words; ++w) {
    uint8x16_t low = vdupq_n_u8(0), high = low;
    uint8x16_t bit = vdupq_n_u8(1);
    const uint32_t* run = args.run + w;
    for (size_t p = 0; p < args.planes; ++p, run += args.plane_words) {
      const uint8x16_t word = vreinterpretq_u8_u32(vld1q_dup_u32(run));
      const uint8x16_t is_low = vtstq_u8(vqtbl1q_u8(word, low_lanes), bit_of_lanes);
      const uint8x16_t is_high = vtstq_u8(vqtbl1q_u8(word, high_lanes), bit_of_lanes);
      low = vorrq_u8(low, vandq_u8(is_low, bit));
      high = vorrq_u8(high, vandq_u8(is_high, bit));
      bit = vaddq_u8(bit, bit);
    }
    vst1q_u8(args.bytes + w * kWordBits, low);
    vst1q_u8(args.bytes + w * kWordBits + kVectorBytes, high);
  }
}

}  // namespace larq_engine
