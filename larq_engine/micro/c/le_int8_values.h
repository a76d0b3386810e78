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

/* Fills a row of the output; each operand has its own distance between neighbours. */
#define LE_PAIRS_ROW(name, function)                                                            \
  LE_INLINE void name(const void* with, const int8_t* x, uint32_t x_step, const int8_t* y,      \
                      uint32_t y_step, uint32_t count, int8_t* out) {                           \
    for (uint32_t i = 0; i < count; ++i) out[i] = function(with, x[i * x_step], y[i * y_step]); \
  }

#ifdef LE_HAS_HELIUM
LE_INLINE void le_add_int8_row(const void* with, const int8_t* x, uint32_t x_step, const int8_t* y,
                               uint32_t y_step, uint32_t count, int8_t* out) {
  const le_int8_sum* sum = (const le_int8_sum*)with;
  const int32x4_t start = vdupq_n_s32(sum->start);
  const int32x4_t lowest = vdupq_n_s32(sum->lowest), highest = vdupq_n_s32(sum->highest);
  const uint32x4_t x_places = vmulq_n_u32(vidupq_n_u32(0, 1), x_step);
  const uint32x4_t y_places = vmulq_n_u32(vidupq_n_u32(0, 1), y_step);
  for (uint32_t i = 0; i < count; i += 4, x += 4 * x_step, y += 4 * y_step, out += 4) {
    const mve_pred16_t there = vctp32q(count - i);
    const int32x4_t a = vldrbq_gather_offset_z_s32(x, x_places, there);
    const int32x4_t b = vldrbq_gather_offset_z_s32(y, y_places, there);
    int32x4_t value = vmlaq_n_s32(vmlaq_n_s32(start, a, sum->of_a), b, sum->of_b);
    value = vaddq_n_s32(vshlq_r_s32(value, -sum->shift), sum->zero_point);
    vstrbq_p_s32(out, vminq_s32(vmaxq_s32(value, lowest), highest), there);
  }
}
#else
LE_PAIRS_ROW(le_add_int8_row, le_add_int8)
#endif

#define LE_PAIRS(name, fill_row)                                                                 \
  LE_KERNEL void name(const le_pairs* pairs, const void* with, const int8_t* a, const int8_t* b, \
                      int8_t* out) {                                                             \
    for (uint32_t i = 0; i < pairs->sizes[0]; ++i) {                                             \
      for (uint32_t j = 0; j < pairs->sizes[1]; ++j) {                                           \
        for (uint32_t k = 0; k < pairs->sizes[2]; ++k) {                                         \
          const int8_t* x =                                                                      \
              a + i * pairs->a_steps[0] + j * pairs->a_steps[1] + k * pairs->a_steps[2];         \
          const int8_t* y =                                                                      \
              b + i * pairs->b_steps[0] + j * pairs->b_steps[1] + k * pairs->b_steps[2];         \
          fill_row(with, x, pairs->a_steps[3], y, pairs->b_steps[3], pairs->sizes[3], out);      \
          out += pairs->sizes[3];                                                                \
        }                                                                                        \
      }                                                                                          \
    }                                                                                            \
  }

LE_PAIRS(le_int8_add_run, le_add_int8_row)

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

/* Makes each of `out` the greater of it and its neighbour in `values`. */
LE_INLINE void le_take_greater(const int8_t* values, uint32_t count, int8_t* out) {
#if defined(LE_HAS_HELIUM)
  for (; count >= 16; count -= 16, values += 16, out += 16) {
    vstrbq_s8(out, vmaxq_s8(vldrbq_s8(out), vldrbq_s8(values)));
  }
  if (count > 0) {
    const mve_pred16_t there = vctp8q(count);
    vstrbq_p_s8(out, vmaxq_s8(vldrbq_z_s8(out, there), vldrbq_z_s8(values, there)), there);
  }
#else
#ifdef LE_HAS_DSP
  for (; count >= 4; count -= 4, values += 4, out += 4) {
    int8x4_t a, b;
    memcpy(&a, values, 4);
    memcpy(&b, out, 4);
    (void)__ssub8(a, b); /* sets where __sel takes its first operand */
    a = (int8x4_t)__sel((uint8x4_t)a, (uint8x4_t)b);
    memcpy(out, &a, 4);
  }
#endif
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] > out[i]) out[i] = values[i];
  }
#endif
}

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
          le_take_greater(in + at * pool->channels, pool->channels, out);
        }
      }
      for (uint32_t c = 0; pool->highest < 127 && c < pool->channels; ++c) {
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
