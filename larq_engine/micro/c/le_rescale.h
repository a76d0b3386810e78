/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Turns a sum of integers into an int8 value with whole numbers alone:
 *
 *   q = clamp((sum * multiplier + addend) >> shift)
 *
 * The exporter has compared this with the engine's float arithmetic wherever the result changes,
 * and chose the numbers so that they agree for every sum that the layer can have. Where no numbers
 * fit a channel, le_rescale_float.h computes what the engine computes. */
#ifndef LE_RESCALE_H
#define LE_RESCALE_H

#include "le_base.h"

/* One a channel. Products of small sums fit in 32 bits; of others the high 32 bits are enough. */
typedef struct {
  int32_t multiplier;
  int32_t addend;
} le_factor32;

typedef struct {
  int64_t addend;
  int32_t multiplier;
  int32_t shift;
} le_factor64;

/* What follows a layer's sums. */
typedef struct {
  const void* factors; /* one a channel */
  int32_t shift;       /* of factors of 32 bits */
  int32_t before;      /* how far sums are shifted up, for their high products */
  int32_t zero_point;  /* of floats, which are rounded before it is added */
  int8_t lowest;
  int8_t highest;
} le_int8_end;

/* One of the functions below; a constant of each kernel, so that it becomes part of it. */
typedef int8_t (*le_int8_rescale)(const le_int8_end* end, int32_t sum, uint32_t channel);

LE_INLINE int8_t le_rescale32(const le_int8_end* end, int32_t sum, uint32_t channel) {
  const le_factor32* by = (const le_factor32*)end->factors + channel;
  const int32_t value = (sum * by->multiplier + by->addend) >> end->shift;
  return (int8_t)le_clamp(value, end->lowest, end->highest);
}

/* The same for results without limits of their own: chips clamp to a byte with one instruction. */
LE_INLINE int8_t le_rescale32_byte(const le_int8_end* end, int32_t sum, uint32_t channel) {
  const le_factor32* by = (const le_factor32*)end->factors + channel;
  return (int8_t)le_clamp((sum * by->multiplier + by->addend) >> end->shift, -128, 127);
}

/* Returns the high 32 bits of the product, of which the addend leaves nothing out of range. */
LE_INLINE int32_t le_high_product(const le_int8_end* end, int32_t sum, int32_t multiplier,
                                  int32_t addend) {
  const int32_t up = (int32_t)((uint32_t)sum << end->before);
  return (int32_t)(((int64_t)up * multiplier) >> 32) + addend;
}

LE_INLINE int8_t le_rescale_high(const le_int8_end* end, int32_t sum, uint32_t channel) {
  const le_factor32* by = (const le_factor32*)end->factors + channel;
  const int32_t value = le_high_product(end, sum, by->multiplier, by->addend) >> end->shift;
  return (int8_t)le_clamp(value, end->lowest, end->highest);
}

/* Returns a number of 32 bits that is beyond int8 where the given one is. */
LE_INLINE int32_t le_narrow(int64_t value) {
  const int32_t narrow = (int32_t)value;
  if (narrow == value) return narrow;
  return value < 0 ? INT32_MIN : INT32_MAX;
}

LE_INLINE int8_t le_rescale64(const le_int8_end* end, int32_t sum, uint32_t channel) {
  const le_factor64* by = (const le_factor64*)end->factors + channel;
  const int64_t value = ((int64_t)sum * by->multiplier + by->addend) >> by->shift;
  return (int8_t)le_clamp(le_narrow(value), end->lowest, end->highest);
}

/* The sums of four channels that follow each other. */
#ifdef LE_HAS_HELIUM
typedef int32x4_t le_four_sums;
#define LE_STORE_SUMS(sums, to) vst1q_s32(to, sums)
#else
typedef struct {
  int32_t of[4];
} le_four_sums;
#define LE_STORE_SUMS(sums, to) memcpy(to, (sums).of, sizeof(to))
#endif

/* The same functions for the first `count` of four sums, of a layer's kernel. */
typedef void (*le_int8_rescale_four)(const le_int8_end* end, le_four_sums sums, uint32_t channel,
                                     uint32_t count, int8_t* out);

#define LE_RESCALE_FOUR(name)                                                             \
  LE_INLINE void name##_four(const le_int8_end* end, le_four_sums sums, uint32_t channel, \
                             uint32_t count, int8_t* out) {                               \
    int32_t each[4];                                                                      \
    LE_STORE_SUMS(sums, each);                                                            \
    for (uint32_t i = 0; i < count; ++i) out[i] = name(end, each[i], channel + i);        \
  }

#ifdef LE_HAS_HELIUM

LE_INLINE void le_store_four(const le_int8_end* end, int32x4_t values, mve_pred16_t there,
                             int8_t* out) {
  values = vmaxq_s32(values, vdupq_n_s32(end->lowest));
  values = vminq_s32(values, vdupq_n_s32(end->highest));
  vstrbq_p_s32(out, values, there);
}

/* Loads a field of four structs, of which one has so many words. */
LE_INLINE int32x4_t le_load_field(const int32_t* from, uint32_t words, mve_pred16_t there) {
  const uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), words);
  return vldrwq_gather_shifted_offset_z_s32(from, at, there);
}

LE_INLINE void le_rescale32_four(const le_int8_end* end, le_four_sums sums, uint32_t channel,
                                 uint32_t count, int8_t* out) {
  const le_factor32* by = (const le_factor32*)end->factors + channel;
  const mve_pred16_t there = vctp32q(count);
  const int32x4_t product = vmulq_s32(sums, le_load_field(&by->multiplier, 2, there));
  const int32x4_t value = vaddq_s32(product, le_load_field(&by->addend, 2, there));
  le_store_four(end, vshlq_r_s32(value, -end->shift), there, out);
}

LE_INLINE void le_rescale32_byte_four(const le_int8_end* end, le_four_sums sums, uint32_t channel,
                                      uint32_t count, int8_t* out) {
  le_rescale32_four(end, sums, channel, count, out);
}

LE_INLINE int32x4_t le_high_product_four(const le_int8_end* end, le_four_sums sums,
                                         int32x4_t multiplier, int32x4_t addend) {
  const int32x4_t up = vshlq_r_s32(sums, end->before);
  return vaddq_s32(vmulhq_s32(up, multiplier), addend);
}

LE_INLINE void le_rescale_high_four(const le_int8_end* end, le_four_sums sums, uint32_t channel,
                                    uint32_t count, int8_t* out) {
  const le_factor32* by = (const le_factor32*)end->factors + channel;
  const mve_pred16_t there = vctp32q(count);
  const int32x4_t value = le_high_product_four(end, sums, le_load_field(&by->multiplier, 2, there),
                                               le_load_field(&by->addend, 2, there));
  le_store_four(end, vshlq_r_s32(value, -end->shift), there, out);
}

#else
LE_RESCALE_FOUR(le_rescale32)
LE_RESCALE_FOUR(le_rescale32_byte)
LE_RESCALE_FOUR(le_rescale_high)
#endif

LE_RESCALE_FOUR(le_rescale64)

#endif
