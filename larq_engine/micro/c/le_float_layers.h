/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of floats.
 *
 * A sum begins with 0 and grows in the order of the weights; then comes the bias. Convolutions and
 * large dense layers round once for a product and its sum, small dense layers twice. Pads are zeros
 * that are multiplied like other values. */
#ifndef LE_FLOAT_LAYERS_H
#define LE_FLOAT_LAYERS_H

#include "le_float_base.h"

/* So many results are computed at the same time: a value is read once for all of them, and no sum
 * waits for the one before. */
#define LE_FLOAT_BLOCK 4

typedef struct {
  le_axis y;
  le_axis x;
  uint16_t groups;
  uint16_t group_channels;
  uint16_t group_outputs;
  uint8_t reads_pixels; /* 1x1 filters without pads */
  const float* weights; /* [channel][taps][group_channels]; depthwise: [taps][channel] */
  const float* bias;
  const float* limits;
} le_float_conv2d;

typedef struct {
  uint32_t rows;
  uint32_t depth;
  uint32_t units;
  const float* weights; /* [unit][depth] */
  const float* bias;
  const float* limits;
} le_float_dense;

/* Computes `count` results of neighbouring rows of weights; the number is a constant. */
LE_INLINE void le_float_block(const float* in, const float* weights, const float* bias,
                              uint32_t depth, uint32_t count, int is_fused, le_float_range range,
                              float* out) {
  float sums[LE_FLOAT_BLOCK] = {0.0f};
  for (uint32_t i = 0; i < depth; ++i) {
    const float value = in[i];
    LE_UNROLL
    for (uint32_t c = 0; c < count; ++c) {
      const float weight = weights[c * depth + i];
      sums[c] = is_fused ? le_multiply_add(value, weight, sums[c]) : sums[c] + value * weight;
    }
  }
  LE_UNROLL
  for (uint32_t c = 0; c < count; ++c) out[c] = le_clamp_float(sums[c] + bias[c], range);
}

LE_INLINE void le_float_products(const float* in, const float* weights, const float* bias,
                                 uint32_t depth, uint32_t outputs, int is_fused,
                                 le_float_range range, float* out) {
  for (; outputs >= LE_FLOAT_BLOCK; outputs -= LE_FLOAT_BLOCK) {
    le_float_block(in, weights, bias, depth, LE_FLOAT_BLOCK, is_fused, range, out);
    weights += LE_FLOAT_BLOCK * depth;
    bias += LE_FLOAT_BLOCK;
    out += LE_FLOAT_BLOCK;
  }
  for (; outputs > 0; --outputs, weights += depth) {
    le_float_block(in, weights, bias++, depth, 1, is_fused, range, out++);
  }
}

/* Copies the values under the filter, in the order of the weights. */
LE_KERNEL void le_gather_floats(const le_float_conv2d* layer, const le_inside* rows,
                                const le_inside* columns, uint32_t group, const float* in,
                                float* taps) {
  const uint32_t count = layer->group_channels;
  const uint32_t pixel = count * layer->groups;
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    const int row_is_inside = ty >= rows->first && ty < rows->last;
    const int32_t row = rows->start + (int32_t)(ty * layer->y.dilation);
    for (uint32_t tx = 0; tx < layer->x.taps; ++tx, taps += count) {
      if (row_is_inside && tx >= columns->first && tx < columns->last) {
        const int32_t column = columns->start + (int32_t)(tx * layer->x.dilation);
        const uint32_t at = (uint32_t)row * layer->x.in_size + (uint32_t)column;
        memcpy(taps, in + at * pixel + group * count, count * sizeof(*taps));
      } else {
        memset(taps, 0, count * sizeof(*taps));
      }
    }
  }
}

LE_KERNEL void le_float_conv2d_run(const le_float_conv2d* layer, const float* in, float* out,
                                   float* scratch) {
  const uint32_t depth = (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels;
  const uint32_t outputs = layer->group_outputs;
  const le_float_range range = le_read_range(layer->limits);
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      for (uint32_t group = 0; group < layer->groups; ++group, out += outputs) {
        const float* taps = scratch;
        if (layer->reads_pixels) {
          const uint32_t at = (uint32_t)rows.start * layer->x.in_size + (uint32_t)columns.start;
          taps = in + (at * layer->groups + group) * depth;
        } else {
          le_gather_floats(layer, &rows, &columns, group, in, scratch);
        }
        le_float_products(taps, layer->weights + group * outputs * depth,
                          layer->bias + group * outputs, depth, outputs, 1, range, out);
      }
    }
  }
}

/* Computes `count` channels from `first` on; the number is a constant. Several channels read
 * neighbouring values, so each has an input channel of its own. */
LE_INLINE void le_float_depthwise_block(const le_float_conv2d* layer, const le_inside* rows,
                                        const le_inside* columns, const float* in, uint32_t first,
                                        uint32_t count, le_float_range range, float* out) {
  const uint32_t channels = (uint32_t)layer->groups * layer->group_outputs;
  const float* from = in + first / layer->group_outputs;
  const float* weights = layer->weights + first;
  float sums[LE_FLOAT_BLOCK] = {0.0f};
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    const int row_is_inside = ty >= rows->first && ty < rows->last;
    const int32_t row = rows->start + (int32_t)(ty * layer->y.dilation);
    for (uint32_t tx = 0; tx < layer->x.taps; ++tx, weights += channels) {
      if (row_is_inside && tx >= columns->first && tx < columns->last) {
        const int32_t column = columns->start + (int32_t)(tx * layer->x.dilation);
        const uint32_t at = (uint32_t)row * layer->x.in_size + (uint32_t)column;
        const float* values = from + at * layer->groups;
        LE_UNROLL
        for (uint32_t c = 0; c < count; ++c) {
          sums[c] = le_multiply_add(values[c], weights[c], sums[c]);
        }
      } else {
        LE_UNROLL
        for (uint32_t c = 0; c < count; ++c) sums[c] = le_multiply_add(0.0f, weights[c], sums[c]);
      }
    }
  }
  const float* bias = layer->bias + first;
  LE_UNROLL
  for (uint32_t c = 0; c < count; ++c) out[c] = le_clamp_float(sums[c] + bias[c], range);
}

LE_KERNEL void le_float_depthwise_run(const le_float_conv2d* layer, const float* in, float* out) {
  const uint32_t channels = (uint32_t)layer->groups * layer->group_outputs;
  const le_float_range range = le_read_range(layer->limits);
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    const le_inside rows = le_taps_inside(&layer->y, oy);
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox, out += channels) {
      const le_inside columns = le_taps_inside(&layer->x, ox);
      uint32_t c = 0;
      const uint32_t of_blocks = layer->group_outputs == 1 ? channels / LE_FLOAT_BLOCK : 0;
      for (; c < of_blocks * LE_FLOAT_BLOCK; c += LE_FLOAT_BLOCK) {
        le_float_depthwise_block(layer, &rows, &columns, in, c, LE_FLOAT_BLOCK, range, out + c);
      }
      for (; c < channels; ++c) {
        le_float_depthwise_block(layer, &rows, &columns, in, c, 1, range, out + c);
      }
    }
  }
}

LE_INLINE void le_float_dense_rows(const le_float_dense* layer, const float* in, float* out,
                                   int is_fused) {
  const le_float_range range = le_read_range(layer->limits);
  for (uint32_t row = 0; row < layer->rows; ++row, in += layer->depth, out += layer->units) {
    le_float_products(in, layer->weights, layer->bias, layer->depth, layer->units, is_fused, range,
                      out);
  }
}

LE_KERNEL void le_float_dense_run(const le_float_dense* layer, const float* in, float* out) {
  le_float_dense_rows(layer, in, out, 0);
}

LE_KERNEL void le_float_large_dense_run(const le_float_dense* layer, const float* in, float* out) {
  le_float_dense_rows(layer, in, out, 1);
}

#endif
