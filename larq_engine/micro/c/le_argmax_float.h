/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* ARG_MAX and ARG_MIN of floats along the middle of three dimensions; of equals, the first. NaN is
 * found only where all values are NaN. */
#ifndef LE_ARGMAX_FLOAT_H
#define LE_ARGMAX_FLOAT_H

#include "le_base.h"

#define LE_ARG_FLOAT(name, is_better)                                                \
  LE_KERNEL void name(uint32_t outer, uint32_t count, uint32_t inner, uint32_t wide, \
                      const float* in, void* out) {                                  \
    int32_t* found = (int32_t*)out;                                                  \
    for (uint32_t o = 0; o < outer; ++o, in += count * inner) {                      \
      for (uint32_t i = 0; i < inner; ++i) {                                         \
        uint32_t best = 0;                                                           \
        for (uint32_t n = 1; n < count; ++n) {                                       \
          const float value = in[n * inner + i];                                     \
          const float most = in[best * inner + i];                                   \
          if (value is_better most || (most != most && value == value)) best = n;    \
        }                                                                            \
        *found++ = (int32_t)best;                                                    \
        if (wide) *found++ = 0; /* the upper half of a number of 64 bits */          \
      }                                                                              \
    }                                                                                \
  }

LE_ARG_FLOAT(le_argmax_float, >)
LE_ARG_FLOAT(le_argmin_float, <)

#endif
