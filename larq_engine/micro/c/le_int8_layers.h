/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of int8 values.
 *
 * Sums are those of bytes as they are stored: the exporter has taken the input's zero point out of
 * the bias, and pads are that zero point. */
#ifndef LE_INT8_LAYERS_H
#define LE_INT8_LAYERS_H

#include "le_base.h"
#include "le_rescale.h"

typedef struct {
  le_axis y;
  le_axis x;
  uint16_t groups;
  uint16_t group_channels;
  uint16_t group_outputs;
  uint8_t reads_pixels; /* 1x1 filters without pads */
  int8_t pad;
  const int8_t* weights; /* [channel][taps][group_channels]; depthwise: [taps][channel] */
  const int32_t* bias;
  le_int8_end end;
} le_int8_conv2d;

/* Copies values that follow each other; most are few, for which a call takes longer than the rest. */
LE_INLINE int8_t* le_copy_bytes(const int8_t* from, uint32_t count, int8_t* to) {
#ifdef LE_HAS_HELIUM
  for (uint32_t i = 0; i < count; i += 16) {
    const mve_pred16_t there = vctp8q(count - i);
    vstrbq_p_s8(to + i, vldrbq_z_s8(from + i, there), there);
  }
#else
  memcpy(to, from, count);
#endif
  return to + count;
}

LE_INLINE int8_t* le_fill_bytes(int8_t value, uint32_t count, int8_t* to) {
  if (count > 0) memset(to, value, count);
  return to + count;
}

/* Brings the values under a filter together. Where those of a row lie side by side in the input,
 * they are copied at once. */
LE_KERNEL void le_gather_bytes(const le_int8_conv2d* layer, const le_inside* rows,
                               const le_inside* columns, uint32_t group, const int8_t* in,
                               int8_t* taps) {
  const uint32_t count = layer->group_channels;
  const uint32_t pixel = count * layer->groups;
  const uint32_t inside = columns->last - columns->first;
  const int are_beside = layer->groups == 1 && layer->x.dilation == 1;
  const uint32_t runs = are_beside ? inside > 0 : inside;
  const uint32_t run = are_beside ? inside * count : count;
  const int32_t column = columns->start + (int32_t)(columns->first * layer->x.dilation);
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    if (ty < rows->first || ty >= rows->last) {
      taps = le_fill_bytes(layer->pad, layer->x.taps * count, taps);
      continue;
    }
    const int32_t row = rows->start + (int32_t)(ty * layer->y.dilation);
    const int32_t at = row * (int32_t)layer->x.in_size + column;
    uint32_t from = (uint32_t)at * pixel + group * count;
    taps = le_fill_bytes(layer->pad, columns->first * count, taps);
    for (uint32_t i = 0; i < runs; ++i, from += layer->x.dilation * pixel) {
      taps = le_copy_bytes(in + from, run, taps);
    }
    taps = le_fill_bytes(layer->pad, (layer->x.taps - columns->last) * count, taps);
  }
}

/* Where the weights of four channels begin. */
typedef struct {
  const int8_t* first;
  uint32_t steps[4];
} le_four_rows;

/* Adds the products of four rows of weights with the same values to four sums. */
#if defined(LE_HAS_HELIUM)

LE_INLINE void le_add_products(const int8_t* x, const le_four_rows* rows, uint32_t count,
                               int32_t* sums) {
  const int8_t* w = rows->first;
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  for (uint32_t blocks = count / 16; blocks > 0; --blocks, x += 16, w += 16) {
    const int8x16_t values = vldrbq_s8(x);
    a = vmladavaq_s8(a, values, vldrbq_s8(w));
    b = vmladavaq_s8(b, values, vldrbq_s8(w + rows->steps[1]));
    c = vmladavaq_s8(c, values, vldrbq_s8(w + rows->steps[2]));
    d = vmladavaq_s8(d, values, vldrbq_s8(w + rows->steps[3]));
  }
  if (count % 16 > 0) {
    const mve_pred16_t there = vctp8q(count % 16);
    const int8x16_t values = vldrbq_z_s8(x, there);
    a = vmladavaq_s8(a, values, vldrbq_z_s8(w, there));
    b = vmladavaq_s8(b, values, vldrbq_z_s8(w + rows->steps[1], there));
    c = vmladavaq_s8(c, values, vldrbq_z_s8(w + rows->steps[2], there));
    d = vmladavaq_s8(d, values, vldrbq_z_s8(w + rows->steps[3], there));
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}

#else

#ifdef LE_HAS_DSP
/* Returns bytes 0 and 2 as numbers of 16 bits. */
LE_INLINE int16x2_t le_even_bytes(uint32_t bytes) { return __sxtb16((int8x4_t)bytes); }

/* Returns bytes 1 and 3. The instruction turns its operand itself, but no function of C says so. */
LE_INLINE int16x2_t le_odd_bytes(uint32_t bytes) {
  int16x2_t odd;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(bytes));
  return odd;
}

LE_INLINE uint32_t le_load_bytes(const int8_t* from) {
  uint32_t bytes;
  memcpy(&bytes, from, 4);
  return bytes;
}

LE_INLINE int32_t le_add_four_products(int16x2_t even, int16x2_t odd, const int8_t* w,
                                       int32_t sum) {
  const uint32_t weights = le_load_bytes(w);
  return __smlad(odd, le_odd_bytes(weights), __smlad(even, le_even_bytes(weights), sum));
}
#endif

LE_INLINE void le_add_products(const int8_t* x, const le_four_rows* rows, uint32_t count,
                               int32_t* sums) {
  const int8_t* w = rows->first;
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
#ifdef LE_HAS_DSP
  LE_UNROLL_TWICE
  for (; count >= 4; count -= 4, x += 4, w += 4) {
    const uint32_t values = le_load_bytes(x);
    const int16x2_t even = le_even_bytes(values);
    const int16x2_t odd = le_odd_bytes(values);
    a = le_add_four_products(even, odd, w, a);
    b = le_add_four_products(even, odd, w + rows->steps[1], b);
    c = le_add_four_products(even, odd, w + rows->steps[2], c);
    d = le_add_four_products(even, odd, w + rows->steps[3], d);
  }
#endif
  for (; count > 0; --count, ++w) {
    const int32_t value = *x++;
    a += value * *w;
    b += value * w[rows->steps[1]];
    c += value * w[rows->steps[2]];
    d += value * w[rows->steps[3]];
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}

#endif

/* Computes the outputs of all channels of a group for the same values. */
LE_INLINE int8_t* le_int8_channels(const int8_t* x, const int8_t* weights, uint32_t depth,
                                   const int32_t* bias, uint32_t first, uint32_t count,
                                   const le_int8_end* end, int8_t* out,
                                   le_int8_rescale_four rescale) {
  for (uint32_t c = 0; c < count; c += 4, weights += 4 * depth) {
    /* Of a last four that are fewer, the last one is computed several times. */
    const uint32_t there = le_least(count - c, 4);
    const uint32_t channel = first + c;
    le_four_rows rows = {weights, {0}};
    int32_t sums[4];
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t at = le_least(i, there - 1);
      rows.steps[i] = at * depth;
      sums[i] = bias[channel + at];
    }
    le_add_products(x, &rows, depth, sums);
    rescale(end, sums, channel, there, out);
    out += there;
  }
  return out;
}

LE_INLINE void le_int8_conv2d_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                  int8_t* scratch, le_int8_rescale_four rescale) {
  const uint32_t depth = (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels;
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      const int8_t* weights = layer->weights;
      for (uint32_t group = 0; group < layer->groups; ++group) {
        const int8_t* taps = scratch;
        if (layer->reads_pixels) {
          const uint32_t at = (uint32_t)rows.start * layer->x.in_size + (uint32_t)columns.start;
          taps = in + (at * layer->groups + group) * depth;
        } else {
          le_gather_bytes(layer, &rows, &columns, group, in, scratch);
        }
        const uint32_t outputs = layer->group_outputs;
        out = le_int8_channels(taps, weights, depth, layer->bias, group * outputs, outputs,
                               &layer->end, out, rescale);
        weights += outputs * depth;
      }
    }
  }
}

/* Each channel of the input has `group_outputs` filters. */
LE_INLINE void le_int8_depthwise_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                     le_int8_rescale rescale) {
  const uint32_t channels = (uint32_t)layer->groups * layer->group_outputs;
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      uint32_t channel = 0;
      for (uint32_t group = 0; group < layer->groups; ++group) {
        for (uint32_t m = 0; m < layer->group_outputs; ++m, ++channel) {
          int32_t sum = layer->bias[channel];
          for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
            const uint32_t row = (uint32_t)(rows.start + (int32_t)(ty * layer->y.dilation));
            const int8_t* weights = layer->weights + ty * layer->x.taps * channels + channel;
            for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
              const uint32_t column = (uint32_t)(columns.start + (int32_t)(tx * layer->x.dilation));
              const int32_t value = in[(row * layer->x.in_size + column) * layer->groups + group];
              sum += (value - layer->pad) * weights[tx * channels];
            }
          }
          *out++ = rescale(&layer->end, sum, channel);
        }
      }
    }
  }
}

typedef struct {
  uint32_t rows;
  uint32_t depth;
  uint32_t units;
  const int8_t* weights; /* [unit][depth] */
  const int32_t* bias;
  le_int8_end end;
} le_int8_dense;

LE_INLINE void le_int8_dense_run(const le_int8_dense* layer, const int8_t* in, int8_t* out,
                                 le_int8_rescale_four rescale) {
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth) {
    out = le_int8_channels(in, layer->weights, layer->depth, layer->bias, 0, layer->units,
                           &layer->end, out, rescale);
  }
}

#endif
