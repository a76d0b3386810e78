/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* FULLY_CONNECTED of floats with weights that are plus or minus a number: a bit each.
 *
 * The signs of four weights are a number from 0 to 15. For each four inputs a table has the 16 sums
 * that they can have, so that an output looks up a sum instead of adding four values. */
#ifndef LE_SIGNED_DENSE_H
#define LE_SIGNED_DENSE_H

#include "le_float_base.h"

/* A word has the signs of 32 inputs, whose sums are in 8 tables. */
enum { LE_SIGN_TABLES = 8, LE_SIGN_SUMS = 16 };

typedef struct {
  uint32_t rows;
  uint32_t depth;
  uint32_t units;
  const uint32_t* signs; /* [word][unit]; a bit is 1 for minus */
  const float* scale;
  const float* bias;
  const float* limits;
} le_signed_dense;

/* Adds four inputs up in order, with each of the 16 signs that they can have. */
LE_INLINE void le_make_sign_table(const float* in, float* table) {
  for (uint32_t signs = 0; signs < LE_SIGN_SUMS; ++signs) {
    float sum = signs & 1 ? -in[0] : in[0];
    sum += signs & 2 ? -in[1] : in[1];
    sum += signs & 4 ? -in[2] : in[2];
    sum += signs & 8 ? -in[3] : in[3];
    table[signs] = sum;
  }
}

LE_KERNEL void le_make_sign_tables(const float* in, uint32_t count, float* tables) {
  for (uint32_t i = 0; i < 4 * LE_SIGN_TABLES; i += 4, tables += LE_SIGN_SUMS) {
    float four[4] = {0.0f};
    if (i < count) memcpy(four, in + i, le_least(count - i, 4) * sizeof(*in));
    le_make_sign_table(four, tables);
  }
}

/* The sums of all units grow in `out`, while the tables are those of 32 inputs. */
LE_KERNEL void le_signed_dense_run(const le_signed_dense* layer, const float* in, float* tables,
                                   float* out) {
  const le_float_range range = le_read_range(layer->limits);
  const uint32_t units = layer->units;
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth, out += units) {
    const uint32_t* signs = layer->signs;
    for (uint32_t unit = 0; unit < units; ++unit) out[unit] = 0.0f;
    for (uint32_t d = 0; d < layer->depth; d += 32, signs += units) {
      le_make_sign_tables(in + d, layer->depth - d, tables);
      for (uint32_t unit = 0; unit < units; ++unit) {
        uint32_t word = signs[unit];
        float sum = out[unit];
        LE_UNROLL
        for (uint32_t t = 0; t < LE_SIGN_TABLES; ++t, word >>= 4) {
          sum += tables[t * LE_SIGN_SUMS + (word & 15)];
        }
        out[unit] = sum;
      }
    }
    for (uint32_t unit = 0; unit < units; ++unit) {
      const float product = out[unit] * layer->scale[unit];
      out[unit] = le_clamp_float(product + layer->bias[unit], range);
    }
  }
}

#endif
