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

#ifdef LE_HAS_DSP
/* Returns bytes 0 and 2 as numbers of 16 bits. */
LE_INLINE int16x2_t le_even_bytes(uint32_t bytes) { return __sxtb16((int8x4_t)bytes); }
#endif

LE_INLINE int32_t le_dot_bytes(const int8_t* x, const int8_t* w, uint32_t count, int32_t sum) {
  uint32_t i = 0;
#ifdef LE_HAS_DSP
  for (; i + 4 <= count; i += 4) {
    uint32_t a, b;
    memcpy(&a, x + i, 4);
    memcpy(&b, w + i, 4);
    sum = __smlad(le_even_bytes(a), le_even_bytes(b), sum);
    sum = __smlad(le_even_bytes(a >> 8), le_even_bytes(b >> 8), sum);
  }
#endif
  for (; i < count; ++i) sum += (int32_t)x[i] * w[i];
  return sum;
}

LE_INLINE void le_int8_conv2d_run(const le_int8_conv2d* layer, const int8_t* in, int8_t* out,
                                  int8_t* scratch, le_int8_rescale rescale) {
  const uint32_t depth = (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels;
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      const int8_t* weights = layer->weights;
      uint32_t channel = 0;
      for (uint32_t group = 0; group < layer->groups; ++group) {
        const int8_t* taps = scratch;
        if (layer->reads_pixels) {
          const uint32_t at = (uint32_t)rows.start * layer->x.in_size + (uint32_t)columns.start;
          taps = in + (at * layer->groups + group) * depth;
        } else {
          le_gather_bytes(layer, &rows, &columns, group, in, scratch);
        }
        for (uint32_t c = 0; c < layer->group_outputs; ++c, ++channel, weights += depth) {
          const int32_t sum = le_dot_bytes(taps, weights, depth, layer->bias[channel]);
          *out++ = rescale(&layer->end, sum, channel);
        }
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
    const int8_t* weights = layer->weights;
    for (uint32_t unit = 0; unit < layer->units; ++unit, weights += layer->depth) {
      const int32_t sum = le_dot_bytes(in, weights, layer->depth, layer->bias[unit]);
      *out++ = rescale(&layer->end, sum, unit);
    }
  }
}

#endif
