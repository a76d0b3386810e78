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

/* Copies values that follow each other; most are few, for which a call takes longer than the rest.
 */
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

/* Where values of four channels lie, from that of the first one on. Of a layer with fewer channels
 * the last one is computed several times. */
typedef struct {
  uint32_t count; /* of channels, 4 at most */
  uint32_t depth;
  uint32_t channels[4];
  uint32_t rows[4]; /* in bytes of weights */
} le_four_channels;

LE_INLINE le_four_channels le_find_four_channels(uint32_t outputs, uint32_t depth) {
  le_four_channels four;
  four.count = le_least(outputs, 4);
  four.depth = depth;
  for (uint32_t i = 0; i < 4; ++i) {
    four.channels[i] = le_least(i, four.count - 1);
    four.rows[i] = four.channels[i] * depth;
  }
  return four;
}

/* Returns the sums of four channels of the products of their weights with the same values. */
#ifdef LE_HAS_HELIUM

/* The loop takes ten instructions for 64 products. Compilers know no loop that ends within a vector
 * by itself, and keep one pointer for all rows, which takes four more. */
LE_INLINE le_four_sums le_sum_products(const le_four_channels* four, const int8_t* x,
                                       const int8_t* weights, const int32_t* bias) {
  const int8_t *wa = weights, *wb = wa + four->rows[1];
  const int8_t *wc = wa + four->rows[2], *wd = wa + four->rows[3];
  int32_t a = 0, b = 0, c = 0, d = 0;
  __asm__ volatile(
      "wlstp.8 lr, %[depth], 2f\n"
      "1:\n"
      "vldrb.8 q0, [%[x]], #16\n"
      "vldrb.8 q1, [%[wa]], #16\n"
      "vmladava.s8 %[a], q0, q1\n"
      "vldrb.8 q2, [%[wb]], #16\n"
      "vmladava.s8 %[b], q0, q2\n"
      "vldrb.8 q3, [%[wc]], #16\n"
      "vmladava.s8 %[c], q0, q3\n"
      "vldrb.8 q1, [%[wd]], #16\n"
      "vmladava.s8 %[d], q0, q1\n"
      "letp lr, 1b\n"
      "2:\n"
      : [x] "+r"(x), [wa] "+r"(wa), [wb] "+r"(wb), [wc] "+r"(wc), [wd] "+r"(wd), [a] "+Te"(a),
        [b] "+Te"(b), [c] "+Te"(c), [d] "+Te"(d)
      : [depth] "r"(four->depth)
      : "q0", "q1", "q2", "q3", "lr", "memory");
  const int32_t sums[4] = {a, b, c, d};
  return vaddq_s32(vld1q_s32(sums), vldrwq_z_s32(bias, vctp32q(four->count)));
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

LE_INLINE int32_t le_add_products(int16x2_t even, int16x2_t odd, const int8_t* w, int32_t sum) {
  const uint32_t weights = le_load_bytes(w);
  return __smlad(odd, le_odd_bytes(weights), __smlad(even, le_even_bytes(weights), sum));
}
#endif

LE_INLINE le_four_sums le_sum_products(const le_four_channels* four, const int8_t* x,
                                       const int8_t* weights, const int32_t* bias) {
  const int8_t *wa = weights, *wb = wa + four->rows[1];
  const int8_t *wc = wa + four->rows[2], *wd = wa + four->rows[3];
  int32_t a = bias[0], b = bias[four->channels[1]];
  int32_t c = bias[four->channels[2]], d = bias[four->channels[3]];
  const int8_t* const end = x + four->depth;
#ifdef LE_HAS_DSP
  LE_UNROLL_TWICE
  for (const int8_t* const last = x + (four->depth & ~3u); x != last; x += 4) {
    const uint32_t values = le_load_bytes(x);
    const int16x2_t even = le_even_bytes(values);
    const int16x2_t odd = le_odd_bytes(values);
    a = le_add_products(even, odd, wa, a);
    b = le_add_products(even, odd, wb, b);
    c = le_add_products(even, odd, wc, c);
    d = le_add_products(even, odd, wd, d);
    wa += 4;
    wb += 4;
    wc += 4;
    wd += 4;
  }
#else
  LE_UNROLL_TWICE
#endif
  while (x != end) {
    const int32_t value = *x++;
    a += value * *wa++;
    b += value * *wb++;
    c += value * *wc++;
    d += value * *wd++;
  }
  const le_four_sums sums = {{a, b, c, d}};
  return sums;
}

#endif

/* Computes the outputs of all channels of a group for the same values. The last four may be others
 * again, so that there are always four. */
LE_INLINE void le_int8_channels(const le_four_channels* four, const int8_t* x,
                                const int8_t* weights, const int32_t* bias, uint32_t first,
                                uint32_t count, const le_int8_end* end, int8_t* out,
                                le_int8_rescale_four rescale) {
  for (uint32_t c = 0; c < count; c += 4) {
    const uint32_t at = le_least(c, count - four->count);
    const uint32_t channel = first + at;
    const le_four_sums sums = le_sum_products(four, x, weights + at * four->depth, bias + channel);
    rescale(end, sums, channel, four->count, out + at);
  }
}

LE_INLINE void le_int8_conv2d_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                  int8_t* scratch, le_int8_rescale_four rescale) {
  const uint32_t depth = (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels;
  const uint32_t outputs = layer->group_outputs;
  const le_four_channels four = le_find_four_channels(outputs, depth);
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
        le_int8_channels(&four, taps, weights, layer->bias, group * outputs, outputs, &layer->end,
                         out, rescale);
        out += outputs;
        weights += outputs * depth;
      }
    }
  }
}

/* What a filter covers of an image, from its first tap inside on. */
typedef struct {
  uint32_t in;      /* where its first value is, */
  uint32_t weights; /* and its first weight */
  uint32_t rows;
  uint32_t columns;
  uint32_t row_step; /* from one row's end to the next row */
  uint32_t column_step;
  uint32_t weight_row_step;
  uint32_t weight_column_step;
} le_covered;

LE_INLINE le_covered le_find_covered(const le_int8_conv2d* layer, const le_inside* rows,
                                     const le_inside* columns) {
  const uint32_t channels = (uint32_t)layer->groups * layer->group_outputs;
  const uint32_t row = (uint32_t)(rows->start + (int32_t)(rows->first * layer->y.dilation));
  const uint32_t column =
      (uint32_t)(columns->start + (int32_t)(columns->first * layer->x.dilation));
  le_covered covered;
  covered.in = (row * layer->x.in_size + column) * layer->groups;
  covered.weights = (rows->first * layer->x.taps + columns->first) * channels;
  covered.rows = rows->last - rows->first;
  covered.columns = columns->last - columns->first;
  covered.column_step = (uint32_t)layer->x.dilation * layer->groups;
  covered.row_step = (uint32_t)layer->y.dilation * layer->x.in_size * layer->groups -
                     covered.columns * covered.column_step;
  covered.weight_column_step = channels;
  covered.weight_row_step = (layer->x.taps - covered.columns) * channels;
  return covered;
}

LE_INLINE int32_t le_sum_covered(const le_int8_conv2d* layer, const le_covered* covered,
                                 const int8_t* in, uint32_t group, uint32_t channel) {
  int32_t sum = layer->bias[channel];
  uint32_t x = covered->in + group;
  uint32_t w = covered->weights + channel;
  for (uint32_t ty = covered->rows; ty > 0; --ty) {
    for (uint32_t tx = covered->columns; tx > 0; --tx) {
      sum += (in[x] - layer->pad) * layer->weights[w];
      x += covered->column_step;
      w += covered->weight_column_step;
    }
    x += covered->row_step;
    w += covered->weight_row_step;
  }
  return sum;
}

/* Returns the sums of four channels, each of one of the input's. */
LE_INLINE le_four_sums le_sum_covered_four(const le_int8_conv2d* layer, const le_covered* covered,
                                           const int8_t* in, uint32_t channel, uint32_t count) {
#ifdef LE_HAS_HELIUM
  const mve_pred16_t there = vctp32q(count);
  le_four_sums sums = vldrwq_z_s32(layer->bias + channel, there);
  uint32_t x = covered->in + channel;
  uint32_t w = covered->weights + channel;
  for (uint32_t ty = covered->rows; ty > 0; --ty) {
    for (uint32_t tx = covered->columns; tx > 0; --tx) {
      const int32x4_t values = vsubq_n_s32(vldrbq_z_s32(in + x, there), layer->pad);
      sums = vaddq_s32(sums, vmulq_s32(values, vldrbq_z_s32(layer->weights + w, there)));
      x += covered->column_step;
      w += covered->weight_column_step;
    }
    x += covered->row_step;
    w += covered->weight_row_step;
  }
#else
  le_four_sums sums = {{0}};
  for (uint32_t i = 0; i < count; ++i) {
    sums.of[i] = le_sum_covered(layer, covered, in, channel + i, channel + i);
  }
#endif
  return sums;
}

/* One filter for each channel of the input. */
LE_INLINE void le_int8_depthwise_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                     le_int8_rescale_four rescale) {
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      const le_covered covered = le_find_covered(layer, &rows, &columns);
      for (uint32_t channel = 0; channel < layer->groups; channel += 4) {
        const uint32_t count = le_least(layer->groups - channel, 4);
        const le_four_sums sums = le_sum_covered_four(layer, &covered, in, channel, count);
        rescale(&layer->end, sums, channel, count, out);
        out += count;
      }
    }
  }
}

/* `group_outputs` filters for each channel of the input. */
LE_INLINE void le_int8_depthwise_several_run(const le_int8_conv2d* layer, const int8_t* in,
                                             int8_t* out, le_int8_rescale rescale) {
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      const le_covered covered = le_find_covered(layer, &rows, &columns);
      uint32_t channel = 0;
      for (uint32_t group = 0; group < layer->groups; ++group) {
        for (uint32_t m = 0; m < layer->group_outputs; ++m, ++channel) {
          const int32_t sum = le_sum_covered(layer, &covered, in, group, channel);
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
  const le_four_channels four = le_find_four_channels(layer->units, layer->depth);
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth, out += layer->units) {
    le_int8_channels(&four, in, layer->weights, layer->bias, 0, layer->units, &layer->end, out,
                     rescale);
  }
}

#endif
