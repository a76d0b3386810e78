/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* ARG_MAX and ARG_MIN of int8 values along the middle of three dimensions; of equals, the first. */
#ifndef LE_ARGMAX_H
#define LE_ARGMAX_H

#include "le_base.h"

/* Indices have 32 or 64 bits in the caller's memory. */
LE_INLINE unsigned char* le_write_index(uint32_t index, uint32_t is_wide, unsigned char* to) {
  const int32_t narrow = (int32_t)index;
  const int64_t wide = (int64_t)index;
  if (is_wide) {
    memcpy(to, &wide, sizeof(wide));
    return to + sizeof(wide);
  }
  memcpy(to, &narrow, sizeof(narrow));
  return to + sizeof(narrow);
}

/* `is_better` compares the value at n with the best one so far. */
#define LE_ARG(name, type, is_better)                                                   \
  LE_KERNEL void name(uint32_t outer, uint32_t count, uint32_t inner, uint32_t is_wide, \
                      const type* in, void* out) {                                      \
    unsigned char* to = (unsigned char*)out;                                            \
    for (uint32_t o = 0; o < outer; ++o, in += count * inner) {                         \
      for (uint32_t i = 0; i < inner; ++i) {                                            \
        uint32_t best = 0;                                                              \
        for (uint32_t n = 1; n < count; ++n) {                                          \
          const type value = in[n * inner + i];                                         \
          const type most = in[best * inner + i];                                       \
          if (is_better) best = n;                                                      \
        }                                                                               \
        to = le_write_index(best, is_wide, to);                                         \
      }                                                                                 \
    }                                                                                   \
  }

LE_ARG(le_argmax_int8, int8_t, value > most)
LE_ARG(le_argmin_int8, int8_t, value < most)

#endif
