/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Transposed convolutions on int8 values: each pixel of the input adds a filter to the output. */
#ifndef LE_INT8_TRANSPOSED_H
#define LE_INT8_TRANSPOSED_H

#include "le_base.h"
#include "le_rescale.h"

/* Axes are those of the convolution that makes an image of the input's size of the output. */
typedef struct {
  le_axis y;
  le_axis x;
  uint16_t channels;
  uint16_t outputs;
  int32_t zero_point;    /* of the input */
  const int8_t* weights; /* [output][tap][channel] */
  const int32_t* bias;
  le_int8_end end;
} le_int8_transposed;

/* Sums the pixels of a row of the input that reach a column of the output. */
LE_INLINE int32_t le_sum_row(const le_int8_transposed* layer, const int8_t* row,
                             const int8_t* weights, uint32_t column) {
  const uint32_t channels = layer->channels;
  uint32_t from = column / layer->x.stride;
  int32_t sum = 0;
  /* Columns before the first one wrap around, and so are none of the input's either. */
  for (uint32_t tx = column % layer->x.stride; tx < layer->x.taps; tx += layer->x.stride, --from) {
    if (from >= layer->x.out_size) continue;
    const int8_t* x = row + from * channels;
    const int8_t* w = weights + tx * channels;
    for (uint32_t c = 0; c < channels; ++c) sum += (x[c] - layer->zero_point) * w[c];
  }
  return sum;
}

LE_INLINE void le_int8_transposed_run(const le_int8_transposed* layer, const int8_t* in,
                                      int8_t* out, le_int8_rescale rescale) {
  const uint32_t line = (uint32_t)layer->x.out_size * layer->channels;
  const uint32_t filter_line = (uint32_t)layer->x.taps * layer->channels;
  for (uint32_t oy = 0; oy < layer->y.in_size; ++oy) {
    const uint32_t row = oy + layer->y.pad;
    for (uint32_t ox = 0; ox < layer->x.in_size; ++ox) {
      for (uint32_t output = 0; output < layer->outputs; ++output) {
        const int8_t* weights = layer->weights + output * layer->y.taps * filter_line;
        int32_t sum = layer->bias[output];
        uint32_t from = row / layer->y.stride;
        for (uint32_t ty = row % layer->y.stride; ty < layer->y.taps;
             ty += layer->y.stride, --from) {
          if (from >= layer->y.out_size) continue;
          sum += le_sum_row(layer, in + from * line, weights + ty * filter_line, ox + layer->x.pad);
        }
        *out++ = rescale(&layer->end, sum, output);
      }
    }
  }
}

#endif
