/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* ARG_MAX and ARG_MIN of int8 values along the middle of three dimensions; of equals, the first. */
#ifndef LE_ARGMAX_H
#define LE_ARGMAX_H

#include "le_base.h"

#define LE_ARG(name, type, is_better)                                                \
  LE_KERNEL void name(uint32_t outer, uint32_t count, uint32_t inner, uint32_t wide, \
                      const type* in, int32_t* out) {                                \
    for (uint32_t o = 0; o < outer; ++o, in += count * inner) {                      \
      for (uint32_t i = 0; i < inner; ++i) {                                         \
        uint32_t best = 0;                                                           \
        for (uint32_t n = 1; n < count; ++n) {                                       \
          if (in[n * inner + i] is_better in[best * inner + i]) best = n;            \
        }                                                                            \
        *out++ = (int32_t)best;                                                      \
        if (wide) *out++ = 0; /* the upper half of a number of 64 bits */            \
      }                                                                              \
    }                                                                                \
  }

LE_ARG(le_argmax_int8, int8_t, >)
LE_ARG(le_argmin_int8, int8_t, <)

#endif
