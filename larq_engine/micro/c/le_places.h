/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Operators that bring elements to other places: slices, transposes, and what repeats pixels. */
#ifndef LE_PLACES_H
#define LE_PLACES_H

#include "le_base.h"

/* Loops over the input, the inner one last. They go by so many bytes, also backwards or by none. */
typedef struct {
  uint32_t counts[6];
  int32_t steps[6];
  int32_t first; /* bytes before the first run */
  uint32_t runs; /* of `bytes` bytes each: the product of the counts */
  uint32_t bytes;
} le_places;

LE_KERNEL void le_places_run(const le_places* places, const void* from, void* to) {
  const unsigned char* in = (const unsigned char*)from;
  unsigned char* out = (unsigned char*)to;
  uint32_t index[6] = {0, 0, 0, 0, 0, 0};
  int32_t at = places->first;
  for (uint32_t run = 0; run < places->runs; ++run, out += places->bytes) {
    memcpy(out, in + at, places->bytes);
    for (int d = 5; d >= 0; --d) {
      at += places->steps[d];
      if (++index[d] < places->counts[d]) break;
      at -= (int32_t)places->counts[d] * places->steps[d];
      index[d] = 0;
    }
  }
}

#endif
