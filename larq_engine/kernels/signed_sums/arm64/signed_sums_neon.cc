// Computes the sums as AVX-512 does (x86/signed_sums_avx512bw.cc), but a vector is a quarter of one
// there: bytes hold the eight look-ups of a word.
#include "larq_engine/kernels/signed_sums/arm64/signed_sums_neon.h"

#include <arm_neon.h>

#include "larq_engine/kernels/signed_sums/signed_sums_tables.h"

namespace larq_engine {
namespace {

constexpr size_t kWordsIn16Bits = 8;  // eight look-ups in each, of at most 1023

void OfInt8(const Int8SumsArgs& args) {
  const uint8x16_t low_bits = vdupq_n_u8(15);
  const uint8x8_t digit = vdup_n_u8(32);
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    uint32x4_t minus[4];
    for (uint32x4_t& sum : minus) sum = vdupq_n_u32(0);
    for (size_t w = 0; w < args.words;) {
      const size_t end = w + kWordsIn16Bits < args.words ? w + kWordsIn16Bits : args.words;
      uint16x8_t acc[2] = {vdupq_n_u16(0), vdupq_n_u16(0)};
      for (; w < end; ++w) {
        const Int8Tables& tables = args.tables[w];
        uint8x16_t low = vdupq_n_u8(0), high = vdupq_n_u8(0);
#pragma GCC unroll 4
        for (size_t q = 0; q < 4; ++q) {
          const uint8x16_t bits = vreinterpretq_u8_u32(vld1q_u32(signs + w * kSignedLanes + 4 * q));
          const uint8x16_t at[2] = {vandq_u8(bits, low_bits), vshrq_n_u8(bits, 4)};
#pragma GCC unroll 2
          for (size_t half = 0; half < 2; ++half) {
            low = vaddq_u8(low, vqtbl1q_u8(vld1q_u8(tables.low[half] + 16 * q), at[half]));
            high = vaddq_u8(high, vqtbl1q_u8(vld1q_u8(tables.high[half] + 16 * q), at[half]));
          }
        }
        acc[0] = vmlal_u8(vaddw_u8(acc[0], vget_low_u8(low)), vget_low_u8(high), digit);
        acc[1] = vmlal_u8(vaddw_u8(acc[1], vget_high_u8(low)), vget_high_u8(high), digit);
      }
      for (size_t i = 0; i < 2; ++i) {
        minus[2 * i] = vaddw_u16(minus[2 * i], vget_low_u16(acc[i]));
        minus[2 * i + 1] = vaddw_u16(minus[2 * i + 1], vget_high_u16(acc[i]));
      }
    }
    for (size_t i = 0; i < 4; ++i) {
      const int32x4_t twice = vreinterpretq_s32_u32(vshlq_n_u32(minus[i], 1));
      vst1q_s32(args.sums + block * kSignedLanes + 4 * i, vsubq_s32(vdupq_n_s32(args.base), twice));
    }
  }
}

constexpr size_t kFloatLanes = 4;
constexpr size_t kFloatVectors = kSignedLanes / kFloatLanes;  // vectors of a block

// Returns the sums of four inputs for each combination of their first two or last two signs, as
// bytes.
inline uint8x16x4_t SumsOfFour(const float* inputs) {
  const uint32x4_t first = {0, uint32_t{1} << 31, 0, uint32_t{1} << 31};
  const uint32x4_t second = {0, 0, uint32_t{1} << 31, uint32_t{1} << 31};
  const auto with = [](float value, uint32x4_t signs) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(vdupq_n_f32(value)), signs));
  };
  const float32x4_t two = vaddq_f32(with(inputs[0], first), with(inputs[1], second));
  const float32x4_t plus = vaddq_f32(two, vdupq_n_f32(inputs[2]));
  const float32x4_t minus = vsubq_f32(two, vdupq_n_f32(inputs[2]));
  const float32x4_t last = vdupq_n_f32(inputs[3]);
  return {
      {vreinterpretq_u8_f32(vaddq_f32(plus, last)), vreinterpretq_u8_f32(vaddq_f32(minus, last)),
       vreinterpretq_u8_f32(vsubq_f32(plus, last)), vreinterpretq_u8_f32(vsubq_f32(minus, last))}};
}

// Four bits select the sum of four inputs, byte by byte, from a table of sixteen.
void FloatSums(const FloatSumsArgs& args) {
  const uint32x4_t of_bytes = vdupq_n_u32(0x04040404);
  const uint32x4_t bytes = vdupq_n_u32(0x03020100);
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    float32x4_t acc[kFloatVectors];
    for (float32x4_t& sum : acc) sum = vdupq_n_f32(0);
    for (size_t w = 0; w < args.words; ++w, signs += kSignedLanes) {
      uint32x4_t bits[kFloatVectors];
      for (size_t v = 0; v < kFloatVectors; ++v) bits[v] = vld1q_u32(signs + v * kFloatLanes);
      for (size_t i = 0; i < 32; i += 4) {
        const uint8x16x4_t table = SumsOfFour(args.inputs + w * 32 + i);
        for (size_t v = 0; v < kFloatVectors; ++v) {
          const uint32x4_t entry = vandq_u32(bits[v], vdupq_n_u32(15));
          const uint32x4_t index = vmlaq_u32(bytes, entry, of_bytes);
          const uint8x16_t sum = vqtbl4q_u8(table, vreinterpretq_u8_u32(index));
          acc[v] = vaddq_f32(acc[v], vreinterpretq_f32_u8(sum));
          bits[v] = vshrq_n_u32(bits[v], 4);
        }
      }
    }
    for (size_t v = 0; v < kFloatVectors; ++v) {
      vst1q_f32(args.sums + block * kSignedLanes + v * kFloatLanes, acc[v]);
    }
  }
}

}  // namespace

constexpr SignedSums kSignedSumsNeon = {
    .make_tables = MakeInt8TablesInLoops, .of_int8 = OfInt8, .of_float = FloatSums};

}  // namespace larq_engine
