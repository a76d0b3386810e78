// Computes the sums of signed_sums_vectors.h; a vector of bytes is a quarter of a word of all
// outputs.
#include "larq_engine/kernels/signed_sums/arm64/signed_sums_neon.h"

#include <arm_neon.h>

#include "larq_engine/kernels/signed_sums/signed_sums_tables.h"
#include "larq_engine/kernels/signed_sums/signed_sums_vectors.h"

namespace larq_engine {
namespace {

struct Vec16 {
  using Bytes = uint8x16_t;
  using Sums = uint16x8_t;
  using Wide = uint32x4x2_t;
  static constexpr size_t kBytes = 16;
  static constexpr size_t kInt8Blocks = 1;
  static Bytes Load(const void* from) { return vld1q_u8(static_cast<const uint8_t*>(from)); }
  static Bytes LowBits(Bytes bits) { return vandq_u8(bits, vdupq_n_u8(15)); }
  static Bytes HighBits(Bytes bits) { return vshrq_n_u8(bits, 4); }
  static Bytes LookUp(Bytes table, Bytes at) { return vqtbl1q_u8(table, at); }
  static Bytes Add(Bytes a, Bytes b) { return vaddq_u8(a, b); }
  static void AddDigits(Sums (&sums)[2], Bytes low, Bytes high) {
    const uint8x8_t digit = vdup_n_u8(32);
    sums[0] = vmlal_u8(vaddw_u8(sums[0], vget_low_u8(low)), vget_low_u8(high), digit);
    sums[1] = vmlal_u8(vaddw_u8(sums[1], vget_high_u8(low)), vget_high_u8(high), digit);
  }
  static Wide AddSums(Wide minus, Sums sums) {
    return {{vaddw_u16(minus.val[0], vget_low_u16(sums)),
             vaddw_u16(minus.val[1], vget_high_u16(sums))}};
  }
  static void StoreSums(int32_t base, Wide minus, int32_t* to) {
    for (int i = 0; i < 2; ++i) {
      const int32x4_t twice = vreinterpretq_s32_u32(vshlq_n_u32(minus.val[i], 1));
      vst1q_s32(to + 4 * i, vsubq_s32(vdupq_n_s32(base), twice));
    }
  }

  using Floats = float32x4_t;
  using Words = uint32x4_t;
  static constexpr size_t kFloats = 4;
  static constexpr size_t kFloatBlocks = 1;
  static Words LoadWords(const uint32_t* from) { return vld1q_u32(from); }
  static Words NextFour(Words words) { return vshrq_n_u32(words, 4); }
  static Floats Add(Floats a, Floats b) { return vaddq_f32(a, b); }
  static void Store(float* to, Floats x) { vst1q_f32(to, x); }

  // A table has sixteen sums, as bytes.
  struct TableMaker {
    Floats With(float value, Words signs) const {
      return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(vdupq_n_f32(value)), signs));
    }
    uint8x16x4_t operator()(const float* inputs) const {
      constexpr uint32_t kMinus = uint32_t{1} << 31;
      const Words first = {0, kMinus, 0, kMinus}, second = {0, 0, kMinus, kMinus};
      const Floats two = Add(With(inputs[0], first), With(inputs[1], second));
      const Floats plus = Add(two, vdupq_n_f32(inputs[2]));
      const Floats minus = vsubq_f32(two, vdupq_n_f32(inputs[2]));
      const Floats last = vdupq_n_f32(inputs[3]);
      return {{vreinterpretq_u8_f32(Add(plus, last)), vreinterpretq_u8_f32(Add(minus, last)),
               vreinterpretq_u8_f32(vsubq_f32(plus, last)),
               vreinterpretq_u8_f32(vsubq_f32(minus, last))}};
    }
  };
  static Floats Select(const uint8x16x4_t& table, Words words) {
    const Words entry = vandq_u32(words, vdupq_n_u32(15));
    const Words index = vmlaq_u32(vdupq_n_u32(0x03020100), entry, vdupq_n_u32(0x04040404));
    return vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(index)));
  }
};

}  // namespace

constexpr SignedSums kSignedSumsNeon = {.make_tables = MakeInt8TablesInLoops,
                                        .of_int8 = Int8SumsOfVectors<Vec16>,
                                        .of_float = FloatSumsOfVectors<Vec16>};

}  // namespace larq_engine
