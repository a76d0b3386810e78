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

LE_KERNEL void le_gather_bytes(const le_int8_conv2d* layer, const le_inside* rows,
                               const le_inside* columns, uint32_t group, const int8_t* in,
                               int8_t* taps) {
  const uint32_t count = layer->group_channels;
  const uint32_t pixel = count * layer->groups;
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    const int row_is_inside = ty >= rows->first && ty < rows->last;
    const int32_t row = rows->start + (int32_t)(ty * layer->y.dilation);
    for (uint32_t tx = 0; tx < layer->x.taps; ++tx, taps += count) {
      if (row_is_inside && tx >= columns->first && tx < columns->last) {
        const int32_t column = columns->start + (int32_t)(tx * layer->x.dilation);
        const uint32_t at = (uint32_t)row * layer->x.in_size + (uint32_t)column;
        memcpy(taps, in + at * pixel + group * count, count);
      } else {
        memset(taps, layer->pad, count);
      }
    }
  }
}

/* Adds the products of two rows of weights with the same values to two sums. */
#if defined(LE_HAS_HELIUM)

LE_INLINE void le_add_products(const int8_t* x, const int8_t* w0, const int8_t* w1, uint32_t count,
                               int32_t* sums) {
  for (uint32_t left = count; left > 0; left -= le_least(left, 16), x += 16, w0 += 16, w1 += 16) {
    const mve_pred16_t there = vctp8q(left);
    const int8x16_t values = vldrbq_z_s8(x, there);
    sums[0] = vmladavaq_s8(sums[0], values, vldrbq_z_s8(w0, there));
    sums[1] = vmladavaq_s8(sums[1], values, vldrbq_z_s8(w1, there));
  }
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
#endif

LE_INLINE void le_add_products(const int8_t* x, const int8_t* w0, const int8_t* w1, uint32_t count,
                               int32_t* sums) {
  int32_t first = sums[0];
  int32_t second = sums[1];
#ifdef LE_HAS_DSP
  LE_UNROLL_TWICE
  for (; count >= 4; count -= 4, x += 4, w0 += 4, w1 += 4) {
    const uint32_t values = le_load_bytes(x);
    const uint32_t a = le_load_bytes(w0);
    const uint32_t b = le_load_bytes(w1);
    const int16x2_t even = le_even_bytes(values);
    const int16x2_t odd = le_odd_bytes(values);
    first = __smlad(even, le_even_bytes(a), first);
    first = __smlad(odd, le_odd_bytes(a), first);
    second = __smlad(even, le_even_bytes(b), second);
    second = __smlad(odd, le_odd_bytes(b), second);
  }
#endif
  for (; count > 0; --count) {
    const int32_t value = *x++;
    first += value * *w0++;
    second += value * *w1++;
  }
  sums[0] = first;
  sums[1] = second;
}

#endif

/* Computes the outputs of all channels of a group for the same values. */
LE_INLINE int8_t* le_int8_channels(const int8_t* x, const int8_t* weights, uint32_t depth,
                                   const int32_t* bias, uint32_t first, uint32_t count,
                                   const le_int8_end* end, int8_t* out, le_int8_rescale rescale) {
  for (uint32_t c = 0; c < count; c += 2, weights += 2 * depth) {
    /* The last one of an odd number is computed twice. */
    const uint32_t both = c + 1 < count;
    const uint32_t channel = first + c;
    int32_t sums[2] = {bias[channel], bias[channel + both]};
    le_add_products(x, weights, weights + both * depth, depth, sums);
    *out++ = rescale(end, sums[0], channel);
    if (both) *out++ = rescale(end, sums[1], channel + 1);
  }
  return out;
}

LE_INLINE void le_int8_conv2d_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                  int8_t* scratch, le_int8_rescale rescale) {
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
                                 le_int8_rescale rescale) {
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth) {
    out = le_int8_channels(in, layer->weights, layer->depth, layer->bias, 0, layer->units,
                           &layer->end, out, rescale);
  }
}

#endif
