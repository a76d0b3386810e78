/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* ADD, SUB, MUL, PRELU and RELU of floats, with an activation that limits their results. */
#ifndef LE_FLOAT_VALUES_H
#define LE_FLOAT_VALUES_H

#include "le_float_base.h"

/* The distances between neighbours of an operand that is broadcast, 0 where it repeats. */
typedef struct {
  uint32_t sizes[4];
  uint32_t a_steps[4];
  uint32_t b_steps[4];
} le_float_pairs;

/* `result` is made of p and q, which are values of the first and the second operand. */
#define LE_FLOAT_PAIRS(name, result)                                                     \
  LE_KERNEL void name(const le_float_pairs* pairs, const float* limits, const float* a,  \
                      const float* b, float* out) {                                      \
    const le_float_range range = le_read_range(limits);                                  \
    const uint32_t a_step = pairs->a_steps[3];                                           \
    const uint32_t b_step = pairs->b_steps[3];                                           \
    for (uint32_t i = 0; i < pairs->sizes[0]; ++i) {                                     \
      for (uint32_t j = 0; j < pairs->sizes[1]; ++j) {                                   \
        for (uint32_t k = 0; k < pairs->sizes[2]; ++k) {                                 \
          const float* x =                                                               \
              a + i * pairs->a_steps[0] + j * pairs->a_steps[1] + k * pairs->a_steps[2]; \
          const float* y =                                                               \
              b + i * pairs->b_steps[0] + j * pairs->b_steps[1] + k * pairs->b_steps[2]; \
          for (uint32_t l = 0; l < pairs->sizes[3]; ++l, x += a_step, y += b_step) {     \
            const float p = *x;                                                          \
            const float q = *y;                                                          \
            *out++ = le_clamp_float(result, range);                                      \
          }                                                                              \
        }                                                                                \
      }                                                                                  \
    }                                                                                    \
  }

LE_FLOAT_PAIRS(le_float_add_run, p + q)
LE_FLOAT_PAIRS(le_float_subtract_run, p - q)
LE_FLOAT_PAIRS(le_float_multiply_run, p* q)
LE_FLOAT_PAIRS(le_float_prelu_run, p < 0.0f ? p * q : p)

LE_KERNEL void le_float_clamp_run(const float* limits, uint32_t count, const float* in,
                                  float* out) {
  const le_float_range range = le_read_range(limits);
  for (uint32_t i = 0; i < count; ++i) out[i] = le_clamp_float(in[i], range);
}

#endif
