// What rows with Advanced SIMD have in common. Functions are internal to the including file.
#ifndef LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_PARTS_H_
#define LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_PARTS_H_

#include <arm_neon.h>

#include <cstring>

#include "larq_engine/kernels/signed_sums.h"

namespace larq_engine {
namespace {

inline int8x16_t BroadcastFour(const int8_t* inputs) {
  int32_t four;
  std::memcpy(&four, inputs, sizeof(four));
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

inline int32_t SumOfAll(const int8_t* inputs, size_t words) {
  int32_t all = 0;
  for (size_t i = 0; i < words * 32; ++i) all += inputs[i];
  return all;
}

constexpr size_t kFloatLanes = 4;
constexpr size_t kFloatVectors = kSignedLanes / kFloatLanes;  // of a block

// The sums of four inputs by their signs, as bytes.
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

// Four bits look up the sum of four inputs, byte by byte, in a table of sixteen.
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
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ARM64_SIGNED_SUMS_PARTS_H_
