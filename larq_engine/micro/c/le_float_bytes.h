/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE of floats to bytes, and DEQUANTIZE and CAST of bytes to floats. */
#ifndef LE_FLOAT_BYTES_H
#define LE_FLOAT_BYTES_H

#include "le_float_base.h"

/* Multiplies by the steps that 1 has, and rounds, halves to even. The limits are those of the bytes
 * without the zero point. NaN becomes the highest one. */
LE_KERNEL void le_bytes_of_floats(const float* steps, const float* limits, int32_t zero,
                                  uint32_t count, const float* in, void* out) {
  const le_float_range range = le_read_range(limits);
  const float factor = *steps;
  uint8_t* bytes = (uint8_t*)out;
  for (uint32_t i = 0; i < count; ++i) {
    float value = in[i] * factor;
    value = value < range.highest ? value : range.highest;
    value = value < range.lowest ? range.lowest : value;
    const uint32_t rounded = le_bits_of_float(value + LE_ROUNDING) - le_bits_of_float(LE_ROUNDING);
    bytes[i] = (uint8_t)(rounded + (uint32_t)zero);
  }
}

#define LE_FLOATS_OF_BYTES(name, type)                                                  \
  LE_KERNEL void name(const float* scale, int32_t zero, uint32_t count, const type* in, \
                      float* out) {                                                     \
    const float factor = *scale;                                                        \
    for (uint32_t i = 0; i < count; ++i) out[i] = (float)(in[i] - zero) * factor;       \
  }

LE_FLOATS_OF_BYTES(le_floats_of_int8, int8_t)
LE_FLOATS_OF_BYTES(le_floats_of_uint8, uint8_t)

LE_KERNEL void le_floats_of_bools(uint32_t count, const uint8_t* in, float* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = in[i] != 0 ? 1.0f : 0.0f;
}

#endif
