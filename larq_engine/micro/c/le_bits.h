/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Bits of other values: LceQuantize, LceDequantize and LceBMaxPool2d. Bit 0 is +1, bit 1 is -1;
 * channel c of a pixel is bit c % 32 of its word c / 32, and unused bits are 0. */
#ifndef LE_BITS_H
#define LE_BITS_H

#include "le_base.h"

#define LE_PACK(name, type, is_minus)                                                   \
  LE_KERNEL void name(const type* in, uint32_t pixels, uint32_t channels, int32_t zero, \
                      uint32_t* out) {                                                  \
    (void)zero;                                                                         \
    for (uint32_t p = 0; p < pixels; ++p) {                                             \
      for (uint32_t c = 0; c < channels; c += 32) {                                     \
        const uint32_t count = le_least(channels - c, 32);                              \
        uint32_t word = 0;                                                              \
        for (uint32_t i = 0; i < count; ++i, ++in) word |= (uint32_t)(is_minus) << i;   \
        *out++ = word;                                                                  \
      }                                                                                 \
    }                                                                                   \
  }

#if defined(LE_HAS_HELIUM) || defined(LE_HAS_DSP)

/* Returns the bits of up to 32 values. */
#ifdef LE_HAS_HELIUM
LE_INLINE uint32_t le_pack_word(const int8_t* in, uint32_t count, int8_t zero) {
  const mve_pred16_t low = vctp8q(count);
  const uint32_t word = vcmpltq_m_n_s8(vldrbq_z_s8(in, low), zero, low);
  if (count <= 16) return word;
  const mve_pred16_t high = vctp8q(count - 16);
  return word | (uint32_t)vcmpltq_m_n_s8(vldrbq_z_s8(in + 16, high), zero, high) << 16;
}
#else
LE_INLINE uint32_t le_pack_word(const int8_t* in, uint32_t count, int8_t zero) {
  const int8x4_t zeros = (int8x4_t)(0x01010101u * (uint8_t)zero);
  uint32_t word = 0;
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    int8x4_t four;
    memcpy(&four, in + i, 4);
    /* The product brings the signs of four bytes side by side. */
    const uint32_t signs = (uint32_t)__qsub8(four, zeros) & 0x80808080u;
    word |= ((signs >> 7) * 0x10204080u >> 28) << i;
  }
  for (; i < count; ++i) word |= (uint32_t)(in[i] < zero) << i;
  return word;
}
#endif

LE_KERNEL void le_pack_int8(const int8_t* in, uint32_t pixels, uint32_t channels, int32_t zero,
                            uint32_t* out) {
  for (uint32_t p = 0; p < pixels; ++p) {
    for (uint32_t c = 0; c < channels; c += 32) {
      const uint32_t count = le_least(channels - c, 32);
      *out++ = le_pack_word(in, count, (int8_t)zero);
      in += count;
    }
  }
}

#else
LE_PACK(le_pack_int8, int8_t, *in < zero)
#endif

LE_PACK(le_pack_bool, uint8_t, *in == 0)

/* Values of several bits: a pixel has one plane of its numbers' bits after the other, the lowest
 * first. A bit of a number that is 1 is +1. `number` is an expression of channel c's value, *in. */
#define LE_PACK_PLANES(name, type, number)                                               \
  LE_KERNEL void name(const type* in, uint32_t pixels, uint32_t channels, uint32_t bits, \
                      const type* limits, uint32_t limit_channels, uint32_t* out) {      \
    (void)limits;                                                                        \
    (void)limit_channels;                                                                \
    const uint32_t words = le_words(channels);                                           \
    for (uint32_t p = 0; p < pixels; ++p, out += words * bits) {                         \
      memset(out, 0, words* bits * 4);                                                   \
      for (uint32_t c = 0; c < channels; ++c, ++in) {                                    \
        const uint32_t q = (number);                                                     \
        for (uint32_t j = 0; j < bits; ++j) {                                            \
          out[j * words + c / 32] |= (uint32_t)(((q >> j) & 1) == 0) << (c % 32);        \
        }                                                                                \
      }                                                                                  \
    }                                                                                    \
  }

LE_PACK_PLANES(le_pack_planes_uint8, uint8_t, *in)

#define LE_UNPACK(name, type)                                                                \
  LE_KERNEL void name(const uint32_t* in, uint32_t pixels, uint32_t channels, type plus,     \
                      type minus, type* out) {                                               \
    for (uint32_t p = 0; p < pixels; ++p) {                                                  \
      for (uint32_t c = 0; c < channels; c += 32) {                                          \
        const uint32_t count = le_least(channels - c, 32);                                   \
        uint32_t word = *in++;                                                               \
        for (uint32_t i = 0; i < count; ++i, word >>= 1) *out++ = (word & 1) ? minus : plus; \
      }                                                                                      \
    }                                                                                        \
  }

LE_UNPACK(le_unpack_int8, int8_t)
LE_UNPACK(le_unpack_bool, uint8_t)

/* The greatest of a window's signs is -1 only if all are. Pixels outside are ignored. */
LE_KERNEL void le_max_bits(const le_axis* y, const le_axis* x, uint32_t words, const uint32_t* in,
                           uint32_t* out) {
  for (uint32_t oy = 0; oy < y->out_size; ++oy) {
    const le_inside rows = le_taps_inside(y, oy);
    for (uint32_t ox = 0; ox < x->out_size; ++ox, out += words) {
      const le_inside columns = le_taps_inside(x, ox);
      for (uint32_t i = 0; i < words; ++i) out[i] = 0xffffffffu;
      for (uint32_t ty = rows.first; ty < rows.last; ++ty) {
        const uint32_t row = (uint32_t)(rows.start + (int32_t)ty) * x->in_size;
        for (uint32_t tx = columns.first; tx < columns.last; ++tx) {
          const uint32_t* pixel = in + (row + (uint32_t)(columns.start + (int32_t)tx)) * words;
          for (uint32_t i = 0; i < words; ++i) out[i] &= pixel[i];
        }
      }
    }
  }
}

#endif
