/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* SOFTMAX of int8 values. The engine adds floats up, so this does the same with whole numbers. */
#ifndef LE_INT8_SOFTMAX_H
#define LE_INT8_SOFTMAX_H

#include "le_float_bits.h"

#define LE_ONE_HALF 0x3f000000u

/* Computes 1 / x, bit by bit. */
LE_KERNEL uint32_t le_invert_float(uint32_t x) {
  const le_number number = le_read_float(x);
  uint32_t rest = LE_HIDDEN_BIT; /* 2^23 */
  uint32_t quotient = 0;
  for (int bit = 0; bit < 27; ++bit) {
    quotient <<= 1;
    if (rest >= number.mantissa) {
      rest -= number.mantissa;
      quotient |= 1;
    }
    rest <<= 1;
  }
  return le_round_float(0, ((uint64_t)quotient << 1) | (rest != 0), -number.exponent - 23 - 26 - 1);
}

LE_KERNEL void le_int8_softmax_run(const uint32_t* exponentials, uint32_t rows, uint32_t channels,
                                   const int8_t* in, int8_t* out) {
  for (uint32_t row = 0; row < rows; ++row, in += channels, out += channels) {
    int32_t largest = in[0];
    for (uint32_t c = 1; c < channels; ++c) {
      if (in[c] > largest) largest = in[c];
    }
    uint32_t sum = 0;
    for (uint32_t c = 0; c < channels; ++c) sum = le_add_floats(sum, exponentials[largest - in[c]]);
    /* The step of the result is 2^-8. */
    const uint32_t factor = le_invert_float(sum - (8u << LE_FRACTION_BITS));
    for (uint32_t c = 0; c < channels; ++c) {
      const uint32_t product = le_multiply_floats(exponentials[largest - in[c]], factor);
      const le_number steps = le_read_float(le_add_floats(product, LE_ONE_HALF));
      /* The number is below 2^9, so its exponent is negative. */
      const int32_t whole = steps.exponent > -32 ? (int32_t)(steps.mantissa >> -steps.exponent) : 0;
      out[c] = (int8_t)(whole > 255 ? 127 : whole - 128);
    }
  }
}

#endif
