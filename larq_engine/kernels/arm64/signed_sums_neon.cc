// A bit of each byte of the weights becomes a byte of ones or zeros, which leaves an input or 0;
// SADALP adds up pairs of those in 16 bits, which hold the sums of some words.
#include "larq_engine/kernels/arm64/signed_sums_neon.h"

#include <arm_neon.h>

#include "larq_engine/kernels/arm64/signed_sums_parts.h"

namespace larq_engine {
namespace {

constexpr size_t kLanes = 4;
constexpr size_t kVectors = kSignedLanes / kLanes;  // of a block
constexpr size_t kWordsIn16Bits = 15;               // of 8 pairs, each at most 256

void OfInt8(const Int8SumsArgs& args) {
  const int32_t all = SumOfAll(args.inputs, args.words);
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    int32x4_t minus[kVectors];
    for (int32x4_t& sum : minus) sum = vdupq_n_s32(0);
    for (size_t from = 0; from < args.words; from += kWordsIn16Bits) {
      const size_t left = args.words - from;
      const size_t to = from + (left < kWordsIn16Bits ? left : kWordsIn16Bits);
      int16x8_t acc[kVectors];
      for (int16x8_t& sum : acc) sum = vdupq_n_s16(0);
      for (size_t w = from; w < to; ++w) {
        const uint32_t* word = signs + w * kSignedLanes;
        for (int j = 0; j < 8; ++j) {
          const uint8x16_t bit = vdupq_n_u8(static_cast<uint8_t>(1 << j));
          const int8x16_t four = BroadcastFour(args.inputs + w * 32 + 4 * j);
          for (size_t v = 0; v < kVectors; ++v) {
            const uint8x16_t bits = vreinterpretq_u8_u32(vld1q_u32(word + v * kLanes));
            const int8x16_t is_minus = vreinterpretq_s8_u8(vtstq_u8(bits, bit));
            acc[v] = vpadalq_s8(acc[v], vandq_s8(is_minus, four));
          }
        }
      }
      for (size_t v = 0; v < kVectors; ++v) minus[v] = vpadalq_s16(minus[v], acc[v]);
    }
    for (size_t v = 0; v < kVectors; ++v) {
      const int32x4_t sum = vsubq_s32(vdupq_n_s32(all), vshlq_n_s32(minus[v], 1));
      vst1q_s32(args.sums + block * kSignedLanes + v * kLanes, sum);
    }
  }
}

}  // namespace

constexpr SignedSums kSignedSumsNeon = {.of_int8 = OfInt8, .of_float = FloatSums};

}  // namespace larq_engine
