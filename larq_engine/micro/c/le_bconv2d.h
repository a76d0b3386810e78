/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* LceBconv2d: a binary convolution, to bits, int8 or floats. Values of several bits are planes of
 * bits, of which plane n counts 2^n.
 *
 * For each pixel of the output the words under the filter are brought together (`taps`), and each
 * channel counts in how many bits they differ from its weights. The taps of a filter lie inside of
 * the image in a rectangle. Where pads are +1 or -1, those outside are words like the others. Where
 * pads are zeros they count nothing: they are gathered as words of 0, and the ones of the weights
 * there, which differ from those, are taken away again. They are counted before the first pixel. */
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

/* The ones of each tap's weights, and the taps outside of the image under a filter. */
typedef struct {
  uint16_t* ones;    /* [channel][tap] */
  uint16_t* outside; /* numbers of taps */
  uint32_t count;    /* of them */
} le_zero_pads;

LE_KERNEL void le_count_ones_of_taps(const le_bconv2d* layer, le_zero_pads* pads) {
  const uint32_t taps = (uint32_t)layer->y.taps * layer->x.taps;
  const uint32_t all = taps * layer->groups * layer->group_outputs;
  const uint32_t* weights = layer->weights;
  for (uint32_t tap = 0; tap < all; ++tap) {
    uint32_t ones = 0;
    for (uint32_t i = 0; i < layer->group_words; ++i) ones += le_count_ones(*weights++);
    pads->ones[tap] = (uint16_t)ones;
  }
}

LE_KERNEL void le_find_outside(const le_bconv2d* layer, const le_window* window,
                               le_zero_pads* pads) {
  uint16_t* outside = pads->outside;
  uint32_t tap = 0;
  for (uint32_t ty = 0; ty < layer->y.taps; ++ty) {
    const int row_is_inside = ty >= window->y.first && ty < window->y.last;
    for (uint32_t tx = 0; tx < layer->x.taps; ++tx, ++tap) {
      if (!row_is_inside || tx < window->x.first || tx >= window->x.last)
        *outside++ = (uint16_t)tap;
    }
  }
  pads->count = (uint32_t)(outside - pads->outside);
}

LE_INLINE uint32_t le_ones_outside(const le_zero_pads* pads, const uint16_t* ones) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < pads->count; ++i) total += ones[pads->outside[i]];
  return total;
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

/* Computes the whole layer. All after `scratch` are constants of a kernel: `words` is the number of
 * words of a plane under the filter where it is known, `has_planes` tells whether values have
 * several bits, `has_zeros` whether the pads of bits are zeros, `to` which output there is,
 * `has_limits` whether an activation limits sums, and `rescale` how they become int8. */
LE_INLINE void le_bconv2d_run(const le_bconv2d* layer, const le_bconv2d_end* end,
                              const uint32_t* in, void* out, uint32_t* scratch, uint32_t words,
                              le_count count_all, int has_planes, int has_zeros, int to,
                              int has_limits, le_int8_rescale rescale) {
  const uint32_t full_depth =
      (uint32_t)layer->y.taps * layer->x.taps * layer->group_channels * layer->product_depth;
  const uint32_t pixel = layer->groups * (uint32_t)layer->group_words * layer->bits_in;
  uint32_t* out_words = (uint32_t*)out;
  int8_t* out_bytes = (int8_t*)out;
  float* out_floats = (float*)out;
  const uint32_t window_taps = (uint32_t)layer->y.taps * layer->x.taps;
  le_zero_pads pads = {NULL, NULL, 0};
  if (has_zeros) {
    pads.ones = (uint16_t*)(scratch + words);
    pads.outside = pads.ones + window_taps * layer->groups * layer->group_outputs;
    le_count_ones_of_taps(layer, &pads);
  }
  for (uint32_t oy = 0; oy < layer->y.out_size; ++oy) {
    for (uint32_t ox = 0; ox < layer->x.out_size; ++ox) {
      le_window window;
      window.y = le_taps_inside(&layer->y, oy);
      window.x = le_taps_inside(&layer->x, ox);
      uint32_t depth = full_depth;
      if (has_zeros || (has_planes && layer->pads_are_zeros))
        depth = le_depth_inside(layer, &window);
      const uint32_t missing = full_depth - depth;
      const uint16_t* ones = pads.ones;
      if (has_zeros) le_find_outside(layer, &window, &pads);
      const uint32_t* weights = layer->weights;
      const int32_t* twice_threshold = end->twice_threshold;
      uint32_t channel = 0;
      uint32_t bits = 0;
      for (uint32_t group = 0; group < layer->groups; ++group) {
        const uint32_t* taps = scratch;
        const uint32_t* from = in + group * layer->group_words;
        if (layer->reads_pixels) {
          taps = from +
                 ((uint32_t)window.y.start * layer->x.in_size + (uint32_t)window.x.start) * pixel;
        } else {
          for (uint32_t i = 0; i < layer->bits_in;
               ++i, from += layer->group_words * layer->groups) {
            le_gather_words(layer, &window, from, scratch + i * words);
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
              differences = le_differences_of_planes(layer, &window, taps, weights, words);
              weights += words * layer->bits_weights;
            } else {
              differences = count_all(taps, weights, words);
              if (has_zeros) {
                differences -= le_ones_outside(&pads, ones);
                ones += window_taps;
              }
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
  }
}

#endif
