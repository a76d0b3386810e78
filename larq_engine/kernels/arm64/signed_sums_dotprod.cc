// As with AVX-512 and VNNI (x86/signed_sums_avx512vnni.cc): SDOT multiplies four bytes, 2^j or 0,
// with four inputs and adds up the products. The top bit is -2^7 to it, so each half of a byte
// comes by itself.
#include "larq_engine/kernels/arm64/signed_sums_dotprod.h"

#include <arm_neon.h>

#include "larq_engine/kernels/arm64/signed_sums_parts.h"

namespace larq_engine {
namespace {

constexpr int kShifts = 4;
constexpr size_t kLanes = 4;
constexpr size_t kVectors = kSignedLanes / kLanes;  // of a block

void OfInt8(const Int8SumsArgs& args) {
  const int32_t all = SumOfAll(args.inputs, args.words);
  for (size_t block = 0; block < args.blocks; ++block) {
    const uint32_t* signs = args.signs + block * args.words * kSignedLanes;
    int32x4_t acc[kVectors][kShifts];
    for (auto& of_vector : acc) {
      for (int32x4_t& sum : of_vector) sum = vdupq_n_s32(0);
    }
    for (size_t w = 0; w < args.words; ++w, signs += kSignedLanes) {
      uint8x16_t bits[kVectors];
      for (size_t v = 0; v < kVectors; ++v) {
        bits[v] = vreinterpretq_u8_u32(vld1q_u32(signs + v * kLanes));
      }
      for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 4
        for (int j = 0; j < kShifts; ++j) {
          const uint8x16_t mask = vdupq_n_u8(static_cast<uint8_t>(1 << j));
          const int8x16_t four = BroadcastFour(args.inputs + w * 32 + 4 * (half * kShifts + j));
#pragma GCC unroll 4
          for (size_t v = 0; v < kVectors; ++v) {
            const int8x16_t weights = vreinterpretq_s8_u8(vandq_u8(bits[v], mask));
            acc[v][j] = vdotq_s32(acc[v][j], weights, four);
          }
        }
        for (size_t v = 0; v < kVectors; ++v) bits[v] = vshrq_n_u8(bits[v], kShifts);
      }
    }
    for (size_t v = 0; v < kVectors; ++v) {
      int32x4_t minus = acc[v][0];
      for (int j = 1; j < kShifts; ++j) {
        minus = vaddq_s32(minus, vshlq_s32(acc[v][j], vdupq_n_s32(-j)));
      }
      const int32x4_t sum = vsubq_s32(vdupq_n_s32(all), vshlq_n_s32(minus, 1));
      vst1q_s32(args.sums + block * kSignedLanes + v * kLanes, sum);
    }
  }
}

}  // namespace

constexpr SignedSums kSignedSumsDotprod = {.of_int8 = OfInt8, .of_float = FloatSums};

}  // namespace larq_engine
