/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* Counts the bits in which two runs of words differ, the inner loop of all binary layers.
 *
 * Chips that count ones do so word by word. All others add words up bit by bit with carry-save
 * adders: column c of `ones`, `twos`, `fours` and `eights` is a number of four bits, how often bit
 * c differed. An adder takes three words and leaves two, in five instructions; counting a word by
 * itself takes twelve. */
#ifndef LE_COUNT_H
#define LE_COUNT_H

#include "le_base.h"

#ifdef LE_COUNTS_ONES

LE_INLINE uint32_t le_count_ones(uint32_t word) { return (uint32_t)__builtin_popcount(word); }

LE_INLINE uint32_t le_differences(const uint32_t* x, const uint32_t* w, uint32_t words) {
  uint32_t total = 0;
  for (uint32_t left = words / 4; left > 0; --left, x += 4, w += 4) {
    total += le_count_ones(x[0] ^ w[0]) + le_count_ones(x[1] ^ w[1]) + le_count_ones(x[2] ^ w[2]) +
             le_count_ones(x[3] ^ w[3]);
  }
  for (uint32_t left = words % 4; left > 0; --left) total += le_count_ones(*x++ ^ *w++);
  return total;
}

#else

/* Adds two words to the columns of *low, and returns the carries. */
LE_INLINE uint32_t le_add(uint32_t* low, uint32_t a, uint32_t b) {
  const uint32_t either = *low ^ a;
  const uint32_t carry = (*low & a) | (either & b);
  *low = either ^ b;
  return carry;
}

/* Adds one word to the columns of *low, and returns the carries. */
LE_INLINE uint32_t le_add_one(uint32_t* low, uint32_t a) {
  const uint32_t carry = *low & a;
  *low ^= a;
  return carry;
}

/* Holds a constant in a register: ARM shifts an operand on its way to an instruction, but not one
 * that stands beside a constant. */
#if defined(__thumb2__)
#define LE_IN_REGISTER(mask) __asm__("" : "+r"(mask))
#else
#define LE_IN_REGISTER(mask)
#endif

/* Returns the ones of each four bits. */
LE_INLINE uint32_t le_ones_of_four(uint32_t word) {
  uint32_t fives = 0x55555555u, threes = 0x33333333u;
  LE_IN_REGISTER(fives);
  LE_IN_REGISTER(threes);
  word -= (word >> 1) & fives;
  return (word & threes) + ((word >> 2) & threes);
}

/* Adds the two numbers of four bits in each byte. */
LE_INLINE uint32_t le_fours_to_bytes(uint32_t fours) {
  uint32_t fifteens = 0x0f0f0f0fu;
  LE_IN_REGISTER(fifteens);
  return (fours & fifteens) + ((fours >> 4) & fifteens);
}

LE_INLINE uint32_t le_sum_bytes(uint32_t bytes) {
#ifdef LE_HAS_DSP
  return __usad8(bytes, 0);
#else
  const uint32_t pairs = (bytes & 0x00ff00ffu) + ((bytes >> 8) & 0x00ff00ffu);
  return (pairs & 0xffffu) + (pairs >> 16);
#endif
}

LE_INLINE uint32_t le_count_ones(uint32_t word) {
  return le_sum_bytes(le_fours_to_bytes(le_ones_of_four(word)));
}

typedef struct {
  uint32_t ones, twos, fours, eights;
} le_columns;

LE_INLINE uint32_t le_add_two_words(le_columns* sum, const uint32_t* x, const uint32_t* w) {
  return le_add(&sum->ones, x[0] ^ w[0], x[1] ^ w[1]);
}

LE_INLINE uint32_t le_add_four_words(le_columns* sum, const uint32_t* x, const uint32_t* w) {
  const uint32_t twos = le_add_two_words(sum, x, w);
  return le_add(&sum->twos, twos, le_add_two_words(sum, x + 2, w + 2));
}

/* Returns the eights that are carried out. */
LE_INLINE uint32_t le_add_eight_words(le_columns* sum, const uint32_t* x, const uint32_t* w) {
  const uint32_t fours = le_add_four_words(sum, x, w);
  return le_add(&sum->fours, fours, le_add_four_words(sum, x + 4, w + 4));
}

/* Adds up to seven words. They carry one eight at most in each column, because the columns below
 * eight hold seven at most. */
LE_INLINE uint32_t le_add_rest(le_columns* sum, const uint32_t* x, const uint32_t* w,
                               uint32_t words) {
  uint32_t eights = 0;
  if (words & 4) {
    eights |= le_add_one(&sum->fours, le_add_four_words(sum, x, w));
    x += 4;
    w += 4;
  }
  if (words & 2) {
    const uint32_t fours = le_add_one(&sum->twos, le_add_two_words(sum, x, w));
    eights |= le_add_one(&sum->fours, fours);
    x += 2;
    w += 2;
  }
  if (words & 1) {
    const uint32_t twos = le_add_one(&sum->ones, x[0] ^ w[0]);
    eights |= le_add_one(&sum->fours, le_add_one(&sum->twos, twos));
  }
  return eights;
}

LE_INLINE uint32_t le_sum_columns(const le_columns* sum, uint32_t words) {
  uint32_t low = le_ones_of_four(sum->ones);
  if (words >= 2) low += 2 * le_ones_of_four(sum->twos); /* 12 at most */
  uint32_t bytes = le_fours_to_bytes(low);
  if (words >= 4) {
    uint32_t high = le_ones_of_four(sum->fours);
    if (words >= 8) high += 2 * le_ones_of_four(sum->eights);
    bytes += 4 * le_fours_to_bytes(high); /* 24 + 96 at most */
  }
  return le_sum_bytes(bytes);
}

#ifdef LE_HAS_HELIUM

/* The same functions, of four words at once. */
LE_INLINE uint32x4_t le_add_vectors(uint32x4_t* low, uint32x4_t a, uint32x4_t b) {
  const uint32x4_t either = *low ^ a;
  const uint32x4_t carry = (*low & a) | (either & b);
  *low = either ^ b;
  return carry;
}

LE_INLINE uint32x4_t le_ones_of_four_vector(uint32x4_t words) {
  words -= (words >> 1) & 0x55555555u;
  return (words & 0x33333333u) + ((words >> 2) & 0x33333333u);
}

LE_INLINE uint32x4_t le_fours_to_bytes_vector(uint32x4_t fours) {
  return (fours & 0x0f0f0f0fu) + ((fours >> 4) & 0x0f0f0f0fu);
}

LE_INLINE uint32_t le_sum_bytes_vector(uint32x4_t bytes) {
  return vaddvq_u8(vreinterpretq_u8_u32(bytes));
}

LE_INLINE uint32x4_t le_differing(const uint32_t* x, const uint32_t* w) {
  return vld1q_u32(x) ^ vld1q_u32(w);
}

/* Returns where fewer than four words differ; beyond them there are no ones. */
LE_INLINE uint32x4_t le_differing_rest(const uint32_t* x, const uint32_t* w, uint32_t words) {
  const mve_pred16_t there = vctp32q(words);
  return vldrwq_z_u32(x, there) ^ vldrwq_z_u32(w, there);
}

/* Adds 16 words at once, and then up to four. */
LE_INLINE uint32_t le_differences(const uint32_t* x, const uint32_t* w, uint32_t words) {
  uint32x4_t ones = vdupq_n_u32(0);
  uint32x4_t twos = ones;
  uint32_t total = 0;
  for (; words >= 16; words -= 16, x += 16, w += 16) {
    const uint32x4_t low = le_add_vectors(&ones, le_differing(x, w), le_differing(x + 4, w + 4));
    const uint32x4_t high =
        le_add_vectors(&ones, le_differing(x + 8, w + 8), le_differing(x + 12, w + 12));
    const uint32x4_t fours = le_ones_of_four_vector(le_add_vectors(&twos, low, high));
    total += 4 * le_sum_bytes_vector(le_fours_to_bytes_vector(fours));
  }
  const uint32x4_t low = le_ones_of_four_vector(ones) + 2 * le_ones_of_four_vector(twos);
  total += le_sum_bytes_vector(le_fours_to_bytes_vector(low));
  for (; words > 0; words -= le_least(words, 4), x += 4, w += 4) {
    const uint32x4_t rest = le_ones_of_four_vector(le_differing_rest(x, w, words));
    total += le_sum_bytes_vector(le_fours_to_bytes_vector(rest));
  }
  return total;
}

#else

/* `words` is a constant where the caller knows it, and most of this folds away. A byte of
 * `sixteens` holds the ones of 31 words at most. */
LE_INLINE uint32_t le_differences(const uint32_t* x, const uint32_t* w, uint32_t words) {
  le_columns sum = {0, 0, 0, 0};
  uint32_t total = 0;
  uint32_t sixteens = 0;
  uint32_t in_bytes = 0;
  uint32_t i = 0;
  for (; i + 16 <= words; i += 16) {
    const uint32_t eights = le_add_eight_words(&sum, x + i, w + i);
    const uint32_t carry =
        le_add(&sum.eights, eights, le_add_eight_words(&sum, x + i + 8, w + i + 8));
    sixteens += le_fours_to_bytes(le_ones_of_four(carry));
    if (words >= 16 * 31 && ++in_bytes == 30) {
      total += 16 * le_sum_bytes(sixteens);
      sixteens = in_bytes = 0;
    }
  }
  uint32_t eights = 0;
  if (words & 8) {
    eights = le_add_eight_words(&sum, x + i, w + i);
    i += 8;
  }
  const uint32_t more = le_add_rest(&sum, x + i, w + i, words & 7);
  const uint32_t carry = le_add(&sum.eights, eights, more);
  if (words >= 16) {
    sixteens += le_fours_to_bytes(le_ones_of_four(carry));
    total += 16 * le_sum_bytes(sixteens);
  }
  return total + le_sum_columns(&sum, words);
}

#endif

#endif

#endif
