/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Bits of floats, and floats of bits. */
#ifndef LE_BITS_FLOAT_H
#define LE_BITS_FLOAT_H

#include "le_bits.h"

/* -0.0 and NaN are +1, as on every other device. */
LE_PACK(le_pack_float, float, *in < 0.0f)
LE_UNPACK(le_unpack_float, float)

/* Counts the limits that a value reaches; NaN reaches all. */
LE_INLINE uint32_t le_limits_reached(float x, const float* limits, uint32_t count, uint32_t step) {
  uint32_t reached = 0;
  for (uint32_t i = 0; i < count; ++i) reached += !(x < limits[i * step]);
  return reached;
}

LE_PACK_PLANES(le_pack_planes_float, float,
               le_limits_reached(*in, limits + (limit_channels > 1 ? c : 0), (1u << bits) - 1,
                                 limit_channels))

#endif
