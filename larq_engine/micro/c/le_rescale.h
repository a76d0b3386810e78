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

/* One a channel; products of small sums fit in 32 bits. */
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

#endif
