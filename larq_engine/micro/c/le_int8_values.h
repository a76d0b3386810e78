/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Operators on int8 values that have no weights: sums, products, pools, means, tables. */
#ifndef LE_INT8_VALUES_H
#define LE_INT8_VALUES_H

#include "le_base.h"
#include "le_rescale.h"

/* The distances between neighbours of an operand that is broadcast, 0 where it repeats. */
typedef struct {
  uint32_t sizes[4];
  uint32_t a_steps[4];
  uint32_t b_steps[4];
} le_pairs;

typedef struct {
  int32_t start;
  int32_t of_a; /* what a step of each operand is worth */
  int32_t of_b;
  int32_t shift;
  int32_t zero_point;
  int8_t lowest;
  int8_t highest;
} le_int8_sum;

LE_INLINE int8_t le_add_int8(const void* with, int32_t a, int32_t b) {
  const le_int8_sum* sum = (const le_int8_sum*)with;
  const int32_t value = (sum->start + a * sum->of_a + b * sum->of_b) >> sum->shift;
  return (int8_t)le_clamp(value + sum->zero_point, sum->lowest, sum->highest);
}

typedef struct {
  int32_t zero_a;
  int32_t zero_b;
  le_int8_end end;
} le_int8_product;

#define LE_PRODUCT(name, rescale)                                        \
  LE_INLINE int8_t name(const void* with, int32_t a, int32_t b) {        \
    const le_int8_product* product = (const le_int8_product*)with;       \
    const int32_t value = (a - product->zero_a) * (b - product->zero_b); \
    return rescale(&product->end, value, 0);                             \
  }

#define LE_PAIRS(name, function)                                                                 \
  LE_KERNEL void name(const le_pairs* pairs, const void* with, const int8_t* a, const int8_t* b, \
                      int8_t* out) {                                                             \
    for (uint32_t i = 0; i < pairs->sizes[0]; ++i) {                                             \
      for (uint32_t j = 0; j < pairs->sizes[1]; ++j) {                                           \
        for (uint32_t k = 0; k < pairs->sizes[2]; ++k) {                                         \
          const int8_t* x =                                                                      \
              a + i * pairs->a_steps[0] + j * pairs->a_steps[1] + k * pairs->a_steps[2];         \
          const int8_t* y =                                                                      \
              b + i * pairs->b_steps[0] + j * pairs->b_steps[1] + k * pairs->b_steps[2];         \
          for (uint32_t l = 0; l < pairs->sizes[3]; ++l) {                                       \
            *out++ = function(with, x[l * pairs->a_steps[3]], y[l * pairs->b_steps[3]]);         \
          }                                                                                      \
        }                                                                                        \
      }                                                                                          \
    }                                                                                            \
  }

LE_PAIRS(le_int8_add_run, le_add_int8)

LE_KERNEL void le_table_run(const uint8_t* table, uint32_t count, const uint8_t* in, uint8_t* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = table[in[i]];
}

typedef struct {
  le_axis y;
  le_axis x;
  uint32_t channels;
  int8_t lowest;
  int8_t highest;
} le_int8_pool;

LE_KERNEL void le_int8_max_run(const le_int8_pool* pool, const int8_t* in, int8_t* out) {
  for (uint32_t oy = 0; oy < pool->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&pool->y, oy);
    for (uint32_t ox = 0; ox < pool->x.out_size; ++ox, out += pool->channels) {
      const le_inside columns = le_taps_inside(&pool->x, ox);
      memset(out, pool->lowest, pool->channels);
      for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
        const uint32_t row = (uint32_t)(rows.start + (int32_t)ty) * pool->x.in_size;
        for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
          const uint32_t at = row + (uint32_t)(columns.start + (int32_t)tx);
          const int8_t* pixel = in + at * pool->channels;
          for (uint32_t c = 0; c < pool->channels; ++c) {
            if (pixel[c] > out[c]) out[c] = pixel[c];
          }
        }
      }
      for (uint32_t c = 0; c < pool->channels; ++c) {
        if (out[c] > pool->highest) out[c] = pool->highest;
      }
    }
  }
}

LE_KERNEL void le_int8_average_run(const le_int8_pool* pool, const int8_t* in, int8_t* out) {
  for (uint32_t oy = 0; oy < pool->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&pool->y, oy);
    for (uint32_t ox = 0; ox < pool->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&pool->x, ox);
      const int32_t count = (int32_t)((rows.last - rows.first) * (columns.last - columns.first));
      for (uint32_t c = 0; c < pool->channels; ++c) {
        int32_t sum = 0;
        for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
          const uint32_t row = (uint32_t)(rows.start + (int32_t)ty) * pool->x.in_size;
          for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
            sum += in[(row + (uint32_t)(columns.start + (int32_t)tx)) * pool->channels + c];
          }
        }
        sum = (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
        *out++ = (int8_t)le_clamp(sum, pool->lowest, pool->highest);
      }
    }
  }
}

/* The mean over `count` neighbours of `inner` values, `outer` times. */
typedef struct {
  uint32_t outer;
  uint32_t count;
  uint32_t inner;
  int32_t start; /* what the input's zero point takes away */
  le_int8_end end;
} le_int8_mean;

LE_INLINE void le_int8_mean_run(const le_int8_mean* mean, const int8_t* in, int8_t* out,
                                le_int8_rescale rescale) {
  for (uint32_t o = 0; o < mean->outer; ++o, in += mean->count * mean->inner) {
    for (uint32_t i = 0; i < mean->inner; ++i) {
      int32_t sum = mean->start;
      for (uint32_t n = 0; n < mean->count; ++n) sum += in[n * mean->inner + i];
      *out++ = rescale(&mean->end, sum, 0);
    }
  }
}

#endif
