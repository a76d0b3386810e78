/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Operators that only move elements, as bytes: joining, splitting, padding, and copies. */
#ifndef LE_MOVE_H
#define LE_MOVE_H

#include "le_base.h"

/* Copies `rows` runs of `bytes` bytes, which begin so many bytes after each other. */
LE_KERNEL void le_copy_rows(uint32_t rows, uint32_t bytes, uint32_t from_step, uint32_t to_step,
                            const void* from, void* to) {
  const unsigned char* in = (const unsigned char*)from;
  unsigned char* out = (unsigned char*)to;
  for (uint32_t row = 0; row < rows; ++row, in += from_step, out += to_step) {
    memcpy(out, in, bytes);
  }
}

/* Four dimensions, of which each is padded before and after; elements have `bytes` bytes. */
typedef struct {
  uint32_t sizes[4];
  uint32_t before[4];
  uint32_t after[4];
  uint32_t bytes;
  unsigned char value[4];
} le_pad;

LE_KERNEL unsigned char* le_fill(const le_pad* pad, uint32_t elements, unsigned char* out) {
  for (uint32_t i = 0; i < elements; ++i, out += pad->bytes) memcpy(out, pad->value, pad->bytes);
  return out;
}

LE_KERNEL void le_pad_run(const le_pad* pad, const void* from, void* to) {
  const unsigned char* in = (const unsigned char*)from;
  unsigned char* out = (unsigned char*)to;
  uint32_t whole[4]; /* elements of an index of each dimension of the output */
  whole[3] = 1;
  for (int d = 3; d > 0; --d) {
    whole[d - 1] = whole[d] * (pad->before[d] + pad->sizes[d] + pad->after[d]);
  }
  const uint32_t run = pad->sizes[3] * pad->bytes;
  out = le_fill(pad, pad->before[0] * whole[0], out);
  for (uint32_t i = 0; i < pad->sizes[0]; ++i) {
    out = le_fill(pad, pad->before[1] * whole[1], out);
    for (uint32_t j = 0; j < pad->sizes[1]; ++j) {
      out = le_fill(pad, pad->before[2] * whole[2], out);
      for (uint32_t k = 0; k < pad->sizes[2]; ++k) {
        out = le_fill(pad, pad->before[3], out);
        memcpy(out, in, run);
        in += run;
        out = le_fill(pad, pad->after[3], out + run);
      }
      out = le_fill(pad, pad->after[2] * whole[2], out);
    }
    out = le_fill(pad, pad->after[1] * whole[1], out);
  }
  le_fill(pad, pad->after[0] * whole[0], out);
}

#endif
