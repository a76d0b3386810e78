/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Floats as whole numbers: what a float32 unit computes, on chips without one.
 *
 * A float32 is its 32 bits. Results are rounded to the nearest float, halves to even; those below
 * the smallest usual float become 0, which no caller can tell from what they are. */
#ifndef LE_FLOAT_BITS_H
#define LE_FLOAT_BITS_H

#include "le_base.h"

enum { LE_FRACTION_BITS = 23, LE_EXPONENT_BIAS = 127 };
#define LE_HIDDEN_BIT 0x00800000u
#define LE_SIGN_BIT 0x80000000u

/* The number mantissa * 2^exponent, without its sign. */
typedef struct {
  uint32_t mantissa;
  int32_t exponent;
} le_number;

LE_INLINE le_number le_read_float(uint32_t bits) {
  le_number number;
  const uint32_t exponent = (bits & ~LE_SIGN_BIT) >> LE_FRACTION_BITS;
  number.mantissa = bits & (LE_HIDDEN_BIT - 1);
  if (exponent > 0) number.mantissa |= LE_HIDDEN_BIT;
  number.exponent = (int32_t)(exponent > 0 ? exponent : 1) - LE_EXPONENT_BIAS - LE_FRACTION_BITS;
  return number;
}

/* Returns the zeros above the highest one of a number that is not 0. */
LE_INLINE int32_t le_leading_zeros(uint32_t word) {
#if defined(__ARM_FEATURE_CLZ) || defined(__riscv_zbb) || (!defined(__arm__) && !defined(__riscv))
  return __builtin_clz(word);
#else
  int32_t zeros = 0;
  for (int32_t half = 16; half > 0; half /= 2) {
    if (word >> (32 - half) == 0) {
      zeros += half;
      word <<= half;
    }
  }
  return zeros;
#endif
}

/* Rounds mantissa * 2^exponent. Its lowest bit is 1 if anything was cut off below it. */
LE_KERNEL uint32_t le_round_float(uint32_t sign, uint64_t mantissa, int32_t exponent) {
  if (mantissa == 0) return sign;
  const uint32_t high = (uint32_t)(mantissa >> 32);
  const int32_t zeros = high ? le_leading_zeros(high) : 32 + le_leading_zeros((uint32_t)mantissa);
  mantissa <<= zeros;
  /* The highest 24 bits stay; of those below, the highest one is a half. */
  uint32_t rounded = (uint32_t)(mantissa >> 40);
  const uint32_t half = (uint32_t)(mantissa >> 39) & 1;
  const uint32_t below_half = (mantissa << 25) != 0;
  if (half && (below_half || (rounded & 1))) ++rounded;
  exponent += 40 - zeros;
  if (rounded == LE_HIDDEN_BIT << 1) {
    rounded >>= 1;
    ++exponent;
  }
  const int32_t biased = exponent + LE_FRACTION_BITS + LE_EXPONENT_BIAS;
  if (biased <= 0) return sign;
  if (biased > 254) return sign | (255u << LE_FRACTION_BITS);
  return sign | ((uint32_t)biased << LE_FRACTION_BITS) | (rounded & (LE_HIDDEN_BIT - 1));
}

LE_INLINE uint32_t le_float_of(int32_t value) {
  const uint32_t sign = value < 0 ? LE_SIGN_BIT : 0;
  return le_round_float(sign, value < 0 ? 0 - (uint32_t)value : (uint32_t)value, 0);
}

LE_KERNEL uint32_t le_add_floats(uint32_t a, uint32_t b) {
  if ((a & ~LE_SIGN_BIT) < (b & ~LE_SIGN_BIT)) {
    const uint32_t kept = a;
    a = b;
    b = kept;
  }
  const le_number large = le_read_float(a);
  const le_number small = le_read_float(b);
  const int32_t distance = large.exponent - small.exponent;
  uint64_t addend = 0;
  uint64_t cut = small.mantissa;
  if (distance < 56) {
    addend = ((uint64_t)small.mantissa << 32) >> distance;
    cut = ((uint64_t)small.mantissa << 32) - (addend << distance);
  }
  if (cut != 0) addend |= 1;
  uint64_t sum = (uint64_t)large.mantissa << 32;
  sum = ((a ^ b) & LE_SIGN_BIT) ? sum - addend : sum + addend;
  return le_round_float(sum == 0 ? 0 : a & LE_SIGN_BIT, sum, large.exponent - 32);
}

LE_KERNEL uint32_t le_multiply_floats(uint32_t a, uint32_t b) {
  const le_number x = le_read_float(a);
  const le_number y = le_read_float(b);
  const uint64_t product = (uint64_t)x.mantissa * y.mantissa;
  return le_round_float((a ^ b) & LE_SIGN_BIT, product, x.exponent + y.exponent);
}

/* Returns the nearest whole number; of halves the even one, or the one away from zero. Numbers
 * beyond 1024, which is more than any byte, may become any such number. */
LE_KERNEL int32_t le_nearest_whole(uint32_t bits, int halves_go_to_even) {
  const le_number number = le_read_float(bits);
  uint32_t whole;
  if (number.exponent > 10 - LE_FRACTION_BITS) {
    whole = 1024;
  } else if (number.exponent < -25) {
    whole = 0;
  } else {
    const uint32_t cut = (uint32_t)-number.exponent;
    const uint32_t rest = number.mantissa & ((1u << cut) - 1);
    const uint32_t half = 1u << (cut - 1);
    whole = number.mantissa >> cut;
    if (rest > half || (rest == half && (!halves_go_to_even || (whole & 1)))) ++whole;
  }
  return bits & LE_SIGN_BIT ? -(int32_t)whole : (int32_t)whole;
}

#endif
