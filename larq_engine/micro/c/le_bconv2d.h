/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* LceBconv2d: a binary convolution, to bits, int8 or floats. Values of several bits are planes of
 * bits, of which plane n counts 2^n.
 *
 * For each pixel of the output the words under the filter are brought together (`taps`), and each
 * channel counts in how many bits they differ from its weights. The taps of a filter lie inside of
 * the image in a rectangle. Where pads are +1 or -1, those outside are words like the others. Where
 * pads are zeros they count nothing: they are gathered as words of 0, and the ones of the weights
 * there, which differ from those, are taken away again. Pixels with the same taps outside follow
 * each other, so that these ones are counted once for all of them. */
#ifndef LE_BCONV2D_H
#define LE_BCONV2D_H

#include "le_base.h"
#include "le_count.h"
#include "le_rescale.h"

enum { LE_TO_BITS, LE_TO_INT8, LE_TO_FLOAT };

typedef struct {
  le_axis y;
  le_axis x;
  uint16_t groups;
  uint16_t group_words;    /* of a plane of a pixel of the input */
  uint16_t group_channels; /* of the input */
  uint16_t group_outputs;
  uint8_t bits_in;
  uint8_t bits_weights;
  uint8_t pads_are_zeros; /* of planes */
  uint8_t reads_pixels;   /* 1x1 filters without pads: a pixel of the input has the taps already */
  uint32_t pad_word;      /* what a word outside of the image is */
  uint32_t last_pad_word;
  uint32_t product_depth;  /* the greatest product of two values: 1 for bits */
  const uint32_t* weights; /* [channel][plane][taps][group_words] */
  int32_t lowest;          /* int8 and float: the activation limits sums first */
  int32_t highest;
} le_bconv2d;

/* The part of the filter of a pixel that lies inside of the image. */
typedef struct {
  le_inside y;
  le_inside x;
} le_window;

LE_INLINE uint32_t le_depth_inside(const le_bconv2d* layer, const le_window* window) {
  return (window->y.last - window->y.first) * (window->x.last - window->x.first) *
         layer->group_channels * layer->product_depth;
}

/* Copies the words of a plane under the filter, in the order of the weights. `in` are those of the
 * first pixel. */
LE_KERNEL void le_gather_words(const le_bconv2d* layer, const le_window* window, const uint32_t* in,
                               uint32_t* taps) {
  const uint32_t words = layer->group_words;
  const uint32_t pixel = words * layer->groups * layer->bits_in;
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    const int row_is_inside = ty >= window->y.first && ty < window->y.last;
    const int32_t row = window->y.start + (int32_t)(ty * layer->y.dilation);
    for (uint32_t tx = 0; tx < layer->x.taps; ++tx) {
      if (row_is_inside && tx >= window->x.first && tx < window->x.last) {
        const int32_t column = window->x.start + (int32_t)(tx * layer->x.dilation);
        const uint32_t at = (uint32_t)row * layer->x.in_size + (uint32_t)column;
        const uint32_t* from = in + at * pixel;
        for (uint32_t i = 0; i < words; ++i) *taps++ = from[i];
      } else {
        for (uint32_t i = 1; i < words; ++i) *taps++ = layer->pad_word;
        *taps++ = layer->last_pad_word;
      }
    }
  }
}

/* Counts differences in the taps inside of the image alone. */
LE_KERNEL uint32_t le_differences_inside(const le_bconv2d* layer, const le_window* window,
                                         const uint32_t* taps, const uint32_t* weights) {
  const uint32_t words = (window->x.last - window->x.first) * layer->group_words;
  uint32_t total = 0;
  for (uint32_t ty = window->y.first; ty < window->y.last; ++ty) {
    const uint32_t at = (ty * layer->x.taps + window->x.first) * layer->group_words;
    total += le_differences(taps + at, weights + at, words);
  }
  return total;
}

/* Counts differences in all pairs of planes, each as much as its product is worth. */
LE_KERNEL uint32_t le_differences_of_planes(const le_bconv2d* layer, const le_window* window,
                                            const uint32_t* taps, const uint32_t* weights,
                                            uint32_t words) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < layer->bits_in; ++i) {
    for (uint32_t j = 0; j < layer->bits_weights; ++j) {
      const uint32_t* x = taps + i * words;
      const uint32_t* w = weights + j * words;
      const uint32_t count = layer->pads_are_zeros ? le_differences_inside(layer, window, x, w)
                                                   : le_differences(x, w, words);
      total += count << (i + j);
    }
  }
  return total;
}

/* Adds the ones of each channel's weights in a rectangle of taps. */
LE_KERNEL void le_add_ones(const le_bconv2d* layer, const le_inside* rows, const le_inside* columns,
                           uint16_t* ones) {
  const uint32_t words = (columns->last - columns->first) * layer->group_words;
  const uint32_t row_words = (uint32_t)layer->x.taps * layer->group_words;
  const uint32_t* weights =
      layer->weights + rows->first * row_words + columns->first * layer->group_words;
  if (rows->first == rows->last || words == 0) return;
  uint32_t left = (uint32_t)layer->groups * layer->group_outputs;
  for (; left > 0; --left, weights += layer->y.taps * row_words) {
    uint32_t total = *ones;
    const uint32_t* row = weights;
    for (uint32_t ty = rows->first; ty < rows->last; ++ty, row += row_words) {
      for (uint32_t i = 0; i < words; ++i) total += le_count_ones(row[i]);
    }
    *ones++ = (uint16_t)total;
  }
}

/* Counts the ones in the taps above and below the image. */
LE_KERNEL void le_count_ones_of_rows(const le_bconv2d* layer, const le_inside* rows,
                                     uint16_t* ones) {
  const le_inside above = {0, 0, rows->first};
  const le_inside below = {0, rows->last, layer->y.taps};
  const le_inside columns = {0, 0, layer->x.taps};
  memset(ones, 0, (size_t)layer->groups * layer->group_outputs * sizeof(*ones));
  le_add_ones(layer, &above, &columns, ones);
  le_add_ones(layer, &below, &columns, ones);
}

/* Adds the ones in the taps beside the image to those above and below it. */
LE_KERNEL void le_add_ones_of_columns(const le_bconv2d* layer, const le_window* window,
                                      const uint16_t* of_rows, uint16_t* ones) {
  const le_inside before = {0, 0, window->x.first};
  const le_inside after = {0, window->x.last, layer->x.taps};
  memcpy(ones, of_rows, (size_t)layer->groups * layer->group_outputs * sizeof(*ones));
  le_add_ones(layer, &window->y, &before, ones);
  le_add_ones(layer, &window->y, &after, ones);
}

/* Returns the first position after this one whose taps inside of the image are others. */
LE_KERNEL uint32_t le_end_of_alike(const le_axis* axis, uint32_t position) {
  const le_inside here = le_taps_inside(axis, position);
  le_inside next;
  do {
    next = le_taps_inside(axis, ++position);
  } while (next.first == here.first && next.last == here.last && position < axis->out_size);
  return position;
}

/* What follows the counts, of one kind of output. */
typedef struct {
  const int32_t* twice_threshold; /* bits */
  const float* multiplier;        /* float */
  const float* bias;
  le_int8_end int8;
} le_bconv2d_end;

/* le_differences, or a function like it for one number of words; a constant of each kernel. */
typedef uint32_t (*le_count)(const uint32_t* x, const uint32_t* w, uint32_t words);

/* Computes all channels of a pixel of the output. `ones` are those of the weights outside of the
 * image, if pads are zeros. */
LE_INLINE void le_bconv2d_pixel(const le_bconv2d* layer, const le_bconv2d_end* end,
                                const le_window* window, const uint32_t* in, void* out,
                                uint32_t* scratch, const uint16_t* ones, uint32_t words,
                                le_count count_all, int has_planes, int has_zeros, int to,
                                int has_limits, le_int8_rescale rescale) {
  const uint32_t full_depth =
      (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels * layer->product_depth;
  const uint32_t pixel = layer->groups * (uint32_t)layer->group_words * layer->bits_in;
  uint32_t* out_words = (uint32_t*)out;
  int8_t* out_bytes = (int8_t*)out;
  float* out_floats = (float*)out;
  uint32_t depth = full_depth;
  if (has_zeros || (has_planes && layer->pads_are_zeros)) depth = le_depth_inside(layer, window);
  const uint32_t missing = full_depth - depth;
  const uint32_t* weights = layer->weights;
  const int32_t* twice_threshold = end->twice_threshold;
  uint32_t channel = 0;
  uint32_t bits = 0;
  for (uint32_t group = 0; group < layer->groups; ++group) {
    const uint32_t* taps = scratch;
    const uint32_t* from = in + group * layer->group_words;
    if (layer->reads_pixels) {
      taps =
          from + ((uint32_t)window->y.start * layer->x.in_size + (uint32_t)window->x.start) * pixel;
    } else {
      for (uint32_t i = 0; i < layer->bits_in; ++i, from += layer->group_words * layer->groups) {
        le_gather_words(layer, window, from, scratch + i * words);
      }
    }
    for (uint32_t c = 0; c < layer->group_outputs;) {
      /* Up to 32 channels, of which bits fill a word. */
      uint32_t count = le_least(layer->group_outputs - c, 32 - (channel & 31));
      c += count;
      channel += count;
      do {
        uint32_t differences;
        if (has_planes) {
          differences = le_differences_of_planes(layer, window, taps, weights, words);
          weights += words * layer->bits_weights;
        } else {
          differences = count_all(taps, weights, words);
          if (has_zeros) differences -= *ones++;
          weights += words;
        }
        if (to == LE_TO_BITS) {
          /* The bit is 1 where missing + 2 * differences > 2 * threshold. */
          const int32_t left = *twice_threshold++ - (int32_t)(missing + 2 * differences);
          bits = (bits >> 1) | ((uint32_t)left & 0x80000000u);
        } else {
          int32_t dot = (int32_t)depth - (int32_t)(2 * differences);
          if (has_limits) dot = le_clamp(dot, layer->lowest, layer->highest);
          if (to == LE_TO_INT8) {
            *out_bytes++ = rescale(&end->int8, dot, channel - count);
          } else {
            const float product = (float)dot * end->multiplier[channel - count];
            *out_floats++ = product + end->bias[channel - count];
          }
        }
      } while (--count);
      if (to == LE_TO_BITS && (channel & 31) == 0) *out_words++ = bits;
    }
  }
  if (to == LE_TO_BITS && (channel & 31) != 0) *out_words++ = bits >> (32 - (channel & 31));
}

/* Computes the whole layer. All after `scratch` are constants of a kernel: `words` is the number of
 * words of a plane under the filter where it is known, `has_planes` tells whether values have
 * several bits, `has_zeros` whether the pads of bits are zeros, `to` which output there is,
 * `has_limits` whether an activation limits sums, and `rescale` how they become int8. */
LE_INLINE void le_bconv2d_run(const le_bconv2d* layer, const le_bconv2d_end* end,
                              const uint32_t* in, void* out, uint32_t* scratch, uint32_t words,
                              le_count count_all, int has_planes, int has_zeros, int to,
                              int has_limits, le_int8_rescale rescale) {
  const uint32_t channels = (uint32_t)layer->groups * layer->group_outputs;
  const uint32_t out_pixel = to == LE_TO_BITS   ? 4 * le_words(channels)
                             : to == LE_TO_INT8 ? channels
                                                : channels * (uint32_t)sizeof(float);
  const uint32_t rows = layer->y.out_size;
  const uint32_t columns = layer->x.out_size;
  uint16_t* of_rows = has_zeros ? (uint16_t*)(scratch + words) : NULL;
  uint16_t* ones = has_zeros ? of_rows + channels : NULL;
  /* Where pads are zeros, the image is cut into rectangles of pixels with the same taps inside. */
  for (uint32_t top = 0, bottom; top < rows; top = bottom) {
    le_window window;
    window.y = le_taps_inside(&layer->y, top);
    bottom = has_zeros ? le_end_of_alike(&layer->y, top) : rows;
    if (has_zeros) le_count_ones_of_rows(layer, &window.y, of_rows);
    for (uint32_t left = 0, right; left < columns; left = right) {
      right = has_zeros ? le_end_of_alike(&layer->x, left) : columns;
      if (has_zeros) {
        window.x = le_taps_inside(&layer->x, left);
        le_add_ones_of_columns(layer, &window, of_rows, ones);
      }
      for (uint32_t oy = top; oy < bottom; ++oy) {
        unsigned char* to_pixel = (unsigned char*)out + (oy * columns + left) * out_pixel;
        for (uint32_t ox = left; ox < right; ++ox, to_pixel += out_pixel) {
          window.y = le_taps_inside(&layer->y, oy);
          window.x = le_taps_inside(&layer->x, ox);
          le_bconv2d_pixel(layer, end, &window, in, to_pixel, scratch, ones, words, count_all,
                           has_planes, has_zeros, to, has_limits, rescale);
        }
      }
    }
  }
}

#endif
