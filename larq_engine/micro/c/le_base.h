/* larq_engine; SPDX-License-Identifier: Apache-2.0 */
/* What all kernels of an exported model share: which instructions the chip has, and small helpers.
 *
 * Everything is C99 without a library: no heap, no files, no recursion; memcpy and memset alone.
 * All functions are internal to the file that includes them, so that programs may hold several
 * models. Define LE_PLAIN to have kernels in plain C on every chip. */
#ifndef LE_BASE_H
#define LE_BASE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#error "larq_engine: compile this file as C; programs in C++ include the model's header"
#endif

#if INT_MAX < 2147483647
#error "larq_engine: this chip's int has fewer than 32 bits, which the kernels need"
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "larq_engine: models need exact floats; compile this file without -ffast-math"
#endif

/* A product and a sum are rounded one after the other, as on every other device. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* The compiler would load all words of a sum long before it needs them, and then store them again
 * for want of registers; without that, sums of 36 words took a tenth fewer instructions. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__arm__)
#pragma GCC optimize("no-schedule-insns")
#endif

#if defined(__GNUC__)
#define LE_INLINE static inline __attribute__((always_inline, unused))
#define LE_KERNEL static __attribute__((noinline, unused))
#define LE_UNROLL _Pragma("GCC unroll 32")
#define LE_UNROLL_TWICE _Pragma("GCC unroll 2")
#else
#define LE_INLINE static inline
#define LE_KERNEL static
#define LE_UNROLL
#define LE_UNROLL_TWICE
#endif

/* Chips that count the ones of a word with one or two instructions. */
#if !defined(LE_PLAIN) && (defined(__riscv_zbb) || defined(__POPCNT__) || defined(__aarch64__))
#define LE_COUNTS_ONES 1
#endif

/* The SIMD instructions of Cortex-M4, M7 and M33, which work on two or four small numbers. */
#if !defined(LE_PLAIN) && defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#define LE_HAS_DSP 1
#endif

/* The vectors of Cortex-M55 and M85 (Helium), of four words. */
#if !defined(LE_PLAIN) && defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#define LE_HAS_HELIUM 1
#endif

LE_INLINE int32_t le_clamp(int32_t value, int32_t lowest, int32_t highest) {
  if (value < lowest) return lowest;
  return value > highest ? highest : value;
}

LE_INLINE uint32_t le_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns the number of words that hold the bits of `channels` values. */
LE_INLINE uint32_t le_words(uint32_t channels) { return (channels + 31) / 32; }

/* Windows of a filter or a pool over an image, along one direction. */
typedef struct {
  uint16_t in_size;
  uint16_t out_size;
  uint16_t taps;
  uint16_t stride;
  uint16_t dilation;
  uint16_t pad; /* pixels before the image */
} le_axis;

/* The taps of a window that lie inside of the image: [first, last). */
typedef struct {
  int32_t start; /* pixel of tap 0, which may lie before the image */
  uint32_t first;
  uint32_t last;
} le_inside;

LE_INLINE le_inside le_taps_inside(const le_axis* axis, uint32_t position) {
  le_inside inside;
  const int32_t dilation = (int32_t)axis->dilation;
  inside.start = (int32_t)(position * axis->stride) - (int32_t)axis->pad;
  inside.first = 0;
  if (inside.start < 0) {
    inside.first = (uint32_t)((dilation - 1 - inside.start) / dilation);
    inside.first = le_least(inside.first, axis->taps);
  }
  const int32_t left = (int32_t)axis->in_size - inside.start;
  inside.last = left <= 0 ? 0 : (uint32_t)((left + dilation - 1) / dilation);
  inside.last = le_least(inside.last, axis->taps);
  if (inside.last < inside.first) inside.last = inside.first;
  return inside;
}

#endif
