/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of floats share. Each operation rounds by itself, in the order that is written
 * here, because the engine does so on every device: results are the same bits. */
#ifndef LE_FLOAT_BASE_H
#define LE_FLOAT_BASE_H

#include "le_base.h"

/* Sums have so many lanes, whatever the chip. */
#define LE_LANES 16

/* Adding this number, 1.5 * 2^23, to a small one rounds it, and the lowest bits of the sum are the
 * whole number. */
#define LE_ROUNDING 0x1.8p23f

/* Some chips multiply and add with one instruction, which rounds once. */
#if !defined(LE_PLAIN) && \
    (defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA) || defined(__riscv_flen))
#define LE_HAS_FMA 1
#endif

typedef struct {
  float lowest;
  float highest;
} le_float_range;

/* Copies a range, so that no output can change it. */
LE_INLINE le_float_range le_read_range(const float* limits) {
  const le_float_range range = {limits[0], limits[1]};
  return range;
}

/* NaN stays, and so does -0.0 where the lowest value is 0. */
LE_INLINE float le_clamp_float(float value, le_float_range range) {
  value = value < range.lowest ? range.lowest : value;
  return value > range.highest ? range.highest : value;
}

LE_INLINE uint32_t le_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

LE_INLINE float le_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Computes x * y + sum, rounded once. */
LE_INLINE float le_multiply_add(float x, float y, float sum) {
#ifdef LE_HAS_FMA
  return __builtin_fmaf(x, y, sum);
#else
  /* The product is exact. A sum that is not becomes the neighbour that is odd, so that rounding it
   * again to a float does not take it for the middle between two floats. */
  const double product = (double)x * (double)y;
  const double total = product + (double)sum;
  const double rest = total - product;
  const double error = (product - (total - rest)) + ((double)sum - rest);
  uint64_t bits;
  memcpy(&bits, &total, sizeof(bits));
  if ((error > 0.0 || error < 0.0) && (bits & 1) == 0) {
    bits = (error > 0.0) == (total > 0.0) ? bits + 1 : bits - 1;
  }
  double odd;
  memcpy(&odd, &bits, sizeof(odd));
  return (float)odd;
#endif
}

/* Adds values up in lanes: each adds its own in order, then lane i + 8 is added to lane i, lane
 * i + 4 to lane i, and so on. */
LE_INLINE float le_sum_in_lanes(const float* values, uint32_t count) {
  float sums[LE_LANES] = {0.0f};
  for (uint32_t i = 0; i < count; ++i) sums[i % LE_LANES] += values[i];
  for (uint32_t half = LE_LANES / 2; half > 0; half /= 2) {
    for (uint32_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

#endif
