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

/* Results this near to a change are left to floats, in units of 2^-16. A float below 2^11 is wrong
 * by 2^-13 at most, and a result is made of three: the sum, the product and what is added to it. */
#define LE_NEAR 32u

/* All results beyond are the end of int8. */
#define LE_BEYOND 1024

LE_KERNEL int32_t le_round_as_float(const le_factor_float* by, int32_t sum, int halves_go_to_even) {
  uint32_t value = le_multiply_floats(le_float_of(sum), by->float_multiplier);
  if (by->float_addend) value = le_add_floats(value, by->float_addend);
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
    value = le_round_as_float(by, sum, halves_go_to_even) + end->zero_point;
  }
  return (int8_t)le_clamp(value, end->lowest, end->highest);
}

LE_KERNEL int8_t le_rescale_even(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 1);
}

LE_KERNEL int8_t le_rescale_away(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 0);
}

#endif
