// Four bytes of a pixel, in 16 bits, meet those of two filters in each vector: a lane adds up two
// of the four products of a filter.
#include "larq_engine/kernels/bytes/wasm/byte_simd128.h"

#include <wasm_simd128.h>

#include "larq_engine/kernels/common/bits.h"

#if !defined(__wasm_simd128__)
#error "this file is built with the flags of ISA_COPTS[\"simd128\"]"
#endif

namespace larq_engine {
namespace {

constexpr size_t kCols = 4;
constexpr size_t kStepBytes = kCols * kByteStep;  // of the right side

// Computes four columns of kPixels pixels.
template <int kPixels>
[[gnu::always_inline]] inline void MultiplyTile(const ByteArgs& args, size_t column) {
  v128_t sum[kPixels][2];
#pragma GCC unroll 4
  for (auto& of_pixel : sum) of_pixel[0] = of_pixel[1] = wasm_i32x4_const_splat(0);
  const int8_t* rhs = args.rhs + column * DepthOf(args);
  const uint8_t* run = args.lhs;
  for (size_t s = 0; s < args.segments; ++s, run += args.segment_stride) {
    for (size_t k = 0; k < args.segment_bytes; k += kByteStep, rhs += kStepBytes) {
      const v128_t low = wasm_i16x8_load8x8(rhs);
      const v128_t high = wasm_i16x8_load8x8(rhs + kStepBytes / 2);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        const uint8_t* bytes = run + static_cast<size_t>(i) * args.lhs_stride + k;
        const v128_t left = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_splat(bytes));
        sum[i][0] = wasm_i32x4_add(sum[i][0], wasm_i32x4_dot_i16x8(left, low));
        sum[i][1] = wasm_i32x4_add(sum[i][1], wasm_i32x4_dot_i16x8(left, high));
      }
    }
  }
  const v128_t start = wasm_v128_load(args.start + column);
  const size_t columns = args.n - column;
  int32_t* acc = args.acc + column;
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i, acc += args.acc_stride) {
    const v128_t pairs = wasm_i32x4_add(wasm_i32x4_shuffle(sum[i][0], sum[i][1], 0, 2, 4, 6),
                                        wasm_i32x4_shuffle(sum[i][0], sum[i][1], 1, 3, 5, 7));
    const v128_t total = wasm_i32x4_add(start, pairs);
    if (columns >= kCols) {
      wasm_v128_store(acc, total);
    } else {
      wasm_v128_store32_lane(acc, total, 0);
      if (columns > 1) wasm_v128_store32_lane(acc + 1, total, 1);
      if (columns > 2) wasm_v128_store32_lane(acc + 2, total, 2);
    }
  }
}

template <int kPixels>
void MultiplyPixels(const ByteArgs& args) {
  for (size_t column = 0; column < args.n; column += kCols) MultiplyTile<kPixels>(args, column);
}

}  // namespace

void BytesI32_4x4x4Simd128(const ByteArgs& args) {
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

// Each byte of a word goes to the lanes of its eight channels, then each lane keeps its own bit.
void ExpandSimd128(const ExpandArgs& args) {
  const v128_t bit_of_lanes = wasm_i64x2_const_splat(static_cast<int64_t>(0x8040201008040201));
  const auto is_set = [&](v128_t bytes) {
    return wasm_i8x16_eq(wasm_v128_and(bytes, bit_of_lanes), bit_of_lanes);
  };
  for (size_t w = 0; w < args.words; ++w) {
    v128_t low = wasm_i8x16_const_splat(0), high = low;
    v128_t bit = wasm_i8x16_const_splat(1);
    const uint32_t* run = args.run + w;
    for (size_t p = 0; p < args.planes; ++p, run += args.plane_words) {
      const v128_t word = wasm_v128_load32_zero(run);
      const v128_t first =
          wasm_i8x16_shuffle(word, word, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
      const v128_t last =
          wasm_i8x16_shuffle(word, word, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
      low = wasm_v128_or(low, wasm_v128_and(is_set(first), bit));
      high = wasm_v128_or(high, wasm_v128_and(is_set(last), bit));
      bit = wasm_i8x16_add(bit, bit);
    }
    wasm_v128_store(args.bytes + w * kWordBits, low);
    wasm_v128_store(args.bytes + w * kWordBits + sizeof(v128_t), high);
  }
}

}  // namespace larq_engine
