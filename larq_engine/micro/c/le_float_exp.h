/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* SOFTMAX and LOGISTIC of floats, with an exponential function of their own, so that results do not
 * depend on a library. */
#ifndef LE_FLOAT_EXP_H
#define LE_FLOAT_EXP_H

#include "le_float_base.h"

/* Computes exp(x) for x <= 0 as 2^n * exp(r), where n is x / log(2), rounded, and r what is left,
 * by the terms of exp's series up to r^7 / 7!. Below -87, where results come near the smallest
 * usual float, it is 0. NaN stays. */
LE_INLINE float le_exp_of_negative(float x) {
  const float rounded = x * 0x1.715476p0f + LE_ROUNDING;
  const float n = rounded - LE_ROUNDING;
  /* The upper part of log(2) has 15 bits, so that its products with n are exact. */
  const float r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  float y = 1.0f / 5040;
  y = y * r + 1.0f / 720;
  y = y * r + 1.0f / 120;
  y = y * r + 1.0f / 24;
  y = y * r + 1.0f / 6;
  y = y * r + 0.5f;
  y = y * r + 1.0f;
  const float power = le_float_of_bits((le_bits_of_float(rounded) << 23) + 0x3f800000u);
  return x < -87.0f ? 0.0f : (y * r + 1.0f) * power;
}

LE_KERNEL void le_float_softmax_run(const float* beta, uint32_t rows, uint32_t channels,
                                    const float* in, float* out) {
  /* With a negative beta, the exponent of the least value is the greatest. */
  const float sign = *beta < 0.0f ? -1.0f : 1.0f;
  const float factor = sign * *beta;
  for (uint32_t row = 0; row < rows; ++row, in += channels, out += channels) {
    float greatest = le_float_of_bits(0xff800000u); /* minus infinity */
    for (uint32_t c = 0; c < channels; ++c) {
      if (sign * in[c] > greatest) greatest = sign * in[c];
    }
    for (uint32_t c = 0; c < channels; ++c) {
      out[c] = le_exp_of_negative(factor * (sign * in[c] - greatest));
    }
    const float sum = le_sum_in_lanes(out, channels);
    for (uint32_t c = 0; c < channels; ++c) out[c] /= sum;
  }
}

/* Computes 1 / (1 + exp(-x)), for negative values as exp(x) / (1 + exp(x)). */
LE_KERNEL void le_float_logistic_run(uint32_t count, const float* in, float* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const float x = in[i];
    const float e = le_exp_of_negative(x < 0.0f ? x : -x);
    out[i] = (x < 0.0f ? e : 1.0f) / (1.0f + e);
  }
}

#endif
