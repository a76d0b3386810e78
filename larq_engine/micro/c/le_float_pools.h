/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* MAX_POOL_2D, AVERAGE_POOL_2D and MEAN of floats. Pixels outside of the image do not count. */
#ifndef LE_FLOAT_POOLS_H
#define LE_FLOAT_POOLS_H

#include "le_float_base.h"

typedef struct {
  le_axis y;
  le_axis x;
  uint32_t channels;
  const float* limits;
} le_float_pool;

/* Returns the pixel under a tap, which must lie inside of the image. */
LE_INLINE const float* le_float_tap(const le_float_pool* pool, const le_inside* rows,
                                    const le_inside* columns, uint32_t ty, uint32_t tx,
                                    const float* in) {
  const uint32_t row = (uint32_t)(rows->start + (int32_t)ty);
  const uint32_t column = (uint32_t)(columns->start + (int32_t)tx);
  return in + (row * pool->x.in_size + column) * pool->channels;
}

/* A greater value replaces the one before. NaN is not greater, and no value is greater than NaN. */
LE_KERNEL void le_float_max_run(const le_float_pool* pool, const float* in, float* out) {
  const le_float_range range = le_read_range(pool->limits);
  const uint32_t channels = pool->channels;
  for (uint32_t oy = 0; oy < pool->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&pool->y, oy);
    for (uint32_t ox = 0; ox < pool->x.out_size; ++ox, out += channels) {
      const le_inside columns = le_taps_inside(&pool->x, ox);
      const float* pixel = le_float_tap(pool, &rows, &columns, rows.first, columns.first, in);
      memcpy(out, pixel, channels * sizeof(*out));
      for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
        for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
          pixel = le_float_tap(pool, &rows, &columns, ty, tx, in);
          for (uint32_t c = 0; c < channels; ++c) {
            if (pixel[c] > out[c]) out[c] = pixel[c];
          }
        }
      }
      for (uint32_t c = 0; c < channels; ++c) out[c] = le_clamp_float(out[c], range);
    }
  }
}

LE_KERNEL void le_float_average_run(const le_float_pool* pool, const float* in, float* out) {
  const le_float_range range = le_read_range(pool->limits);
  const uint32_t channels = pool->channels;
  for (uint32_t oy = 0; oy < pool->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&pool->y, oy);
    for (uint32_t ox = 0; ox < pool->x.out_size; ++ox, out += channels) {
      const le_inside columns = le_taps_inside(&pool->x, ox);
      const float count = (float)((rows.last - rows.first) * (columns.last - columns.first));
      for (uint32_t c = 0; c < channels; ++c) out[c] = 0.0f;
      for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
        for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
          const float* pixel = le_float_tap(pool, &rows, &columns, ty, tx, in);
          for (uint32_t c = 0; c < channels; ++c) out[c] += pixel[c];
        }
      }
      for (uint32_t c = 0; c < channels; ++c) out[c] = le_clamp_float(out[c] / count, range);
    }
  }
}

/* The mean over `count` neighbours of `inner` values, `outer` times. Each `part` of them are added
 * up by themselves, then their sums are: the engine's threads share a whole image in this way. */
typedef struct {
  uint32_t outer;
  uint32_t count;
  uint32_t inner;
  uint32_t part;
  const float* limits;
} le_float_mean;

LE_KERNEL void le_float_mean_run(const le_float_mean* mean, const float* in, float* out) {
  const le_float_range range = le_read_range(mean->limits);
  for (uint32_t o = 0; o < mean->outer; ++o, in += mean->count * mean->inner) {
    for (uint32_t i = 0; i < mean->inner; ++i) {
      float total = 0.0f;
      for (uint32_t n = 0; n < mean->count;) {
        const uint32_t last = n + le_least(mean->part, mean->count - n);
        float sum = 0.0f;
        for (; n < last; ++n) sum += in[n * mean->inner + i];
        total += sum;
      }
      *out++ = le_clamp_float(total / (float)mean->count, range);
    }
  }
}

/* The mean over all values of `lines` lines, which the last dimension is, `outer` times. */
LE_KERNEL void le_float_mean_lines(uint32_t outer, uint32_t lines, uint32_t size, const float* in,
                                   float* out) {
  for (uint32_t o = 0; o < outer; ++o) {
    float total = 0.0f;
    for (uint32_t line = 0; line < lines; ++line, in += size) total += le_sum_in_lanes(in, size);
    out[o] = total / (float)(lines * size);
  }
}

#endif
