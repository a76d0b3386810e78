/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* FULLY_CONNECTED of int8 values with weights that are plus or minus a number: a bit each. Sums are
 * looked up in tables, four inputs at a time. */
#ifndef LE_INT8_SIGNED_DENSE_H
#define LE_INT8_SIGNED_DENSE_H

#include "le_base.h"
#include "le_rescale.h"

/* A word has the signs of 32 inputs, whose sums are in 8 tables. */
enum { LE_INT8_SIGN_TABLES = 8, LE_INT8_SIGN_SUMS = 16 };

typedef struct {
  uint32_t rows;
  uint32_t depth;
  uint32_t units;
  const uint32_t* signs; /* [word][unit]; a bit is 1 for minus */
  const int8_t* scale;
  const int32_t* bias;
  le_int8_end end;
} le_int8_signed_dense;

/* Makes the 16 sums of each four inputs. Turning a sign takes twice the input away. */
LE_KERNEL void le_make_int8_sign_tables(const int8_t* in, uint32_t count, int16_t* tables) {
  for (uint32_t i = 0; i < 4 * LE_INT8_SIGN_TABLES; i += 4, tables += LE_INT8_SIGN_SUMS) {
    int8_t four[4] = {0};
    if (i < count) memcpy(four, in + i, le_least(count - i, 4));
    tables[0] = (int16_t)(four[0] + four[1] + four[2] + four[3]);
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t made = 1u << k;
      for (uint32_t s = 0; s < made; ++s) {
        tables[made + s] = (int16_t)(tables[s] - 2 * four[k]);
      }
    }
  }
}

/* The sums of all units grow in `scratch`, while the tables behind them are those of 32 inputs. */
LE_INLINE void le_int8_signed_dense_run(const le_int8_signed_dense* layer, const int8_t* in,
                                        int8_t* out, void* scratch, le_int8_rescale rescale) {
  const uint32_t units = layer->units;
  int32_t* sums = (int32_t*)scratch;
  int16_t* tables = (int16_t*)(sums + units);
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth) {
    const uint32_t* signs = layer->signs;
    memset(sums, 0, units * sizeof(*sums));
    for (uint32_t d = 0; d < layer->depth; d += 32, signs += units) {
      le_make_int8_sign_tables(in + d, layer->depth - d, tables);
      for (uint32_t unit = 0; unit < units; ++unit) {
        uint32_t word = signs[unit];
        int32_t sum = sums[unit];
        LE_UNROLL
        for (uint32_t t = 0; t < LE_INT8_SIGN_TABLES; ++t, word >>= 4) {
          sum += tables[t * LE_INT8_SIGN_SUMS + (word & 15)];
        }
        sums[unit] = sum;
      }
    }
    for (uint32_t unit = 0; unit < units; ++unit) {
      const int32_t sum = sums[unit] * layer->scale[unit] + layer->bias[unit];
      *out++ = rescale(&layer->end, sum, unit);
    }
  }
}

#endif
