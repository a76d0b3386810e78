/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* LceBmatmul: products of matrices of bits, both computed when the model runs. */
#ifndef LE_BMATMUL_H
#define LE_BMATMUL_H

#include "le_base.h"
#include "le_count.h"

typedef struct {
  uint32_t matrices;
  uint32_t rows;    /* of a matrix on the left */
  uint32_t columns; /* rows of a matrix on the right */
  uint32_t words;   /* of a row */
  int32_t depth;
  /* Three multiply the dot product, the sum of a left row and that of a right row; the fourth is
   * added. */
  const float* factors;
} le_bmatmul;

/* Returns the sum of the signs of a row. */
LE_INLINE int32_t le_sum_of_signs(const uint32_t* row, uint32_t words, int32_t depth) {
  uint32_t ones = 0;
  for (uint32_t i = 0; i < words; ++i) ones += le_count_ones(row[i]);
  return depth - (int32_t)(2 * ones);
}

/* `of_columns` holds what is added to each column, whatever its row. */
LE_KERNEL void le_bmatmul_run(const le_bmatmul* product, const void* left, const void* right,
                              float* of_columns, float* out) {
  const uint32_t* a = (const uint32_t*)left;
  const uint32_t* b = (const uint32_t*)right;
  const uint32_t words = product->words;
  const uint32_t columns = product->columns;
  const int32_t depth = product->depth;
  const float of_dot = product->factors[0];
  const float of_left = product->factors[1];
  const float of_right = product->factors[2];
  const float constant = product->factors[3];
  for (uint32_t m = 0; m < product->matrices; ++m, b += columns * words) {
    for (uint32_t j = 0; j < columns; ++j) {
      float sum = 0.0f;
      if (of_right != 0.0f) {
        sum = (float)le_sum_of_signs(b + j * words, words, depth) * of_right;
      }
      of_columns[j] = sum + constant;
    }
    for (uint32_t i = 0; i < product->rows; ++i, a += words, out += columns) {
      for (uint32_t j = 0; j < columns; ++j) {
        const uint32_t differences = le_differences(a, b + j * words, words);
        const float dot = (float)(depth - (int32_t)(2 * differences));
        out[j] = dot * of_dot + of_columns[j];
      }
      if (of_left == 0.0f) continue;
      const float sum = (float)le_sum_of_signs(a, words, depth) * of_left;
      for (uint32_t j = 0; j < columns; ++j) out[j] += sum;
    }
  }
}

#endif
