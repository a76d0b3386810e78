/* Turns sums of integers into int8 values in layers of which no whole numbers fit some channels:
 * results that lie in the middle between two numbers, or sums with more bits than a float. There a
 * factor has no shift but the bits of two floats, and floats are computed as the engine does. */
#ifndef LE_RESCALE_FLOAT_H
#define LE_RESCALE_FLOAT_H

#include "le_float_bits.h"
#include "le_rescale.h"

LE_INLINE int8_t le_rescale_mixed(const le_int8_end* end, int32_t sum, uint32_t channel,
                                  int halves_go_to_even) {
  const le_factor64* by = (const le_factor64*)end->factors + channel;
  if (by->shift) return le_rescale64(end, sum, channel);
  uint32_t value = le_multiply_floats(le_float_of(sum), (uint32_t)by->multiplier);
  if (by->addend) value = le_add_floats(value, (uint32_t)by->addend);
  const int32_t whole = le_nearest_whole(value, halves_go_to_even) + end->zero_point;
  return (int8_t)le_clamp(whole, end->lowest, end->highest);
}

LE_KERNEL int8_t le_rescale_even(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 1);
}

LE_KERNEL int8_t le_rescale_away(const le_int8_end* end, int32_t sum, uint32_t channel) {
  return le_rescale_mixed(end, sum, channel, 0);
}

#endif
