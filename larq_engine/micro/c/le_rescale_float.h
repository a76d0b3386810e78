/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Turns sums of integers into int8 values in layers of which no whole numbers fit some channels:
 * results that lie in the middle between two numbers, or sums with more bits than a float. Whole
 * numbers say what the result is, and only next to the middle are floats computed, as the engine
 * does. */
#ifndef LE_RESCALE_FLOAT_H
#define LE_RESCALE_FLOAT_H

#include "le_float_bits.h"
#include "le_rescale.h"

typedef struct {
  int64_t addend; /* with the half */
  int32_t multiplier;
  int32_t shift;
  uint32_t float_multiplier; /* bits of floats */
  uint32_t float_addend;
  uint32_t floats_only; /* what is added is large, so that a product may be and still count */
} le_factor_float;

/* The same where no result is beyond 16 bits: the product's high 32 bits have 16 of a fraction. */
typedef struct {
  int32_t multiplier;
  int32_t addend; /* with the half */
  uint32_t float_multiplier;
  uint32_t float_addend;
} le_factor_near;

/* Results this near to a change are left to floats, in units of 2^-16. A float below 2^11 is wrong
 * by 2^-13 at most, and a result is made of three: the sum, the product and what is added to it. */
#define LE_NEAR 32u

/* All results beyond are the end of int8. */
#define LE_BEYOND 1024

LE_KERNEL int32_t le_round_as_float(uint32_t multiplier, uint32_t addend, int32_t sum,
                                    int halves_go_to_even) {
  uint32_t value = le_multiply_floats(le_float_of(sum), multiplier);
  if (addend) value = le_add_floats(value, addend);
  return le_nearest_whole(value, halves_go_to_even);
}

LE_INLINE int8_t le_rescale_mixed(const le_int8_end* end, int32_t sum, uint32_t channel,
                                  int halves_go_to_even) {
  const le_factor_float* by = (const le_factor_float*)end->factors + channel;
  const int64_t product = (int64_t)sum * by->multiplier + by->addend;
  const uint32_t fraction = (uint32_t)(product >> (by->shift - 16)) & 0xffffu;
  int32_t value = le_narrow(product >> by->shift);
  const int is_near = ((fraction + LE_NEAR) & 0xffffu) < 2 * LE_NEAR;
  if (by->floats_only || (is_near && value > -LE_BEYOND && value < LE_BEYOND)) {
    value = le_round_as_float(by->float_multiplier, by->float_addend, sum, halves_go_to_even);
    value += end->zero_point;
  }
  return (int8_t)le_clamp(value, end->lowest, end->highest);
}

LE_KERNEL int8_t le_rescale_even(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 1);
}

LE_KERNEL int8_t le_rescale_away(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 0);
}

LE_INLINE int le_is_near(int32_t value) {
  return (((uint32_t)value + LE_NEAR) & 0xffffu) < 2 * LE_NEAR;
}

LE_KERNEL int8_t le_settle_near(const le_int8_end* end, int32_t sum, uint32_t channel,
                                int halves_go_to_even) {
  const le_factor_near* by = (const le_factor_near*)end->factors + channel;
  const int32_t value =
      le_round_as_float(by->float_multiplier, by->float_addend, sum, halves_go_to_even);
  return (int8_t)le_clamp(value + end->zero_point, end->lowest, end->highest);
}

LE_INLINE int8_t le_rescale_near(const le_int8_end* end, int32_t sum, uint32_t channel,
                                 int halves_go_to_even) {
  const le_factor_near* by = (const le_factor_near*)end->factors + channel;
  const int32_t value = le_high_product(end, sum, by->multiplier, by->addend);
  if (le_is_near(value)) return le_settle_near(end, sum, channel, halves_go_to_even);
  return (int8_t)le_clamp(value >> 16, end->lowest, end->highest);
}

LE_INLINE int8_t le_rescale_near_even(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_near(end, sum, channel, 1);
}

LE_INLINE int8_t le_rescale_near_away(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_near(end, sum, channel, 0);
}

#ifdef LE_HAS_HELIUM

LE_INLINE void le_rescale_near_even_four(const le_int8_end* end, le_four_sums sums,
                                         uint32_t channel, uint32_t count, int8_t* out) {
  const int32_t* by = &((const le_factor_near*)end->factors + channel)->multiplier;
  const mve_pred16_t there = vctp32q(count);
  const int32x4_t value =
      le_high_product_four(end, sums, le_load_field(by, 4, there), le_load_field(by + 1, 4, there));
  const uint32x4_t fraction =
      vandq_u32(vreinterpretq_u32_s32(vaddq_n_s32(value, LE_NEAR)), vdupq_n_u32(0xffff));
  le_store_four(end, vshrq_n_s32(value, 16), there, out);
  if (vcmphiq_m_u32(vdupq_n_u32(2 * LE_NEAR), fraction, there)) {
    int32_t each[4];
    LE_STORE_SUMS(sums, each);
    for (uint32_t i = 0; i < count; ++i) {
      out[i] = le_rescale_near_even(end, each[i], channel + i);
    }
  }
}

#else
LE_RESCALE_FOUR(le_rescale_near_even)
#endif

LE_RESCALE_FOUR(le_rescale_even)

#endif
