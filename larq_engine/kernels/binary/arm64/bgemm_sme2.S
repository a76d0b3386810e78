// The row for 64-bit ARM with SME2.
//
// NOT TIMED ON ANY HARDWARE: shown to be right under emulation, with streaming vectors of 128 to
// 2048 bits. All figures of speed, here and in the row's estimate, are counted and expected.
//
// BMOPA takes two vectors of 32-bit words and adds, to each counter of a square, the number of
// equal bits of a word of the one and a word of the other. With inverted left words that is the
// number of bits that differ. The counters are the four tiles of the register ZA:
//
//                    z2: W columns   z3: W more
//   z0: W pixels     za0             za1
//   z1: W more       za2             za3
//
// A word of depth takes two loads and four BMOPA. There are four tiles because a BMOPA can begin
// every cycle and takes four (Apple M4). W is the number of words in a vector, which is known only
// at run time. The row's tile of 32x32 is made for a W of 16 (512 bits); shorter vectors compute a
// part of it in each round, and longer ones leave lanes empty.
//
// z0 and z1 need the same word of all pixels, but a pixel's words lie together. So the left side is
// transposed first, once for all columns: words of a run are loaded as a row of za0, and then the
// columns of za0 are stored. This takes bounded memory, because a call computes a part of the
// depth.
//
// Entering and leaving streaming mode costs some 100 cycles and all vector registers. NEON, which a
// compiler could use at any place, is not available in that mode. So the whole product is here.

#include "larq_engine/kernels/binary/arm64/function.inc"

  .arch_extension sve
  .arch_extension sme  // SME2's additions are written as numbers, for assemblers without it

  part .req x0  // struct Sme2Part
  m .req x1
  lanes .req x2  // W
  x .req x9      // first pixel of a round
  at .req x13    // memory address of a loop
  rows .req x15  // number of pixels

  // Registers for the left side. x12 numbers the rows and columns of a tile, because only x12 to
  // x15 can.
  words .req x3
  runs .req x4
  segments .req x5
  lhs_base .req x6
  left .req x7
  round_words .req x8
  word .req x10    // first of the round
  round_base .req x11
  offset .req x14

  // Registers for the product.
  n .req x3
  acc .req x4
  acc_bytes .req x5
  next_block .req x6
  left_end .req x7  // `left`, which has advanced to its end
  step .req x8      // pixels and columns of a round
  column .req x10   // first of the round
  right_end .req x11
  depth .req x14    // counts up to 0
  first_depth .req x16
  is_first .req x17

// Stores or loads the counters of two tiles.
.macro two_tiles instruction, left_tile, right_tile, predication
  mov w12, #0
LOCAL(row\@):
  \instruction {\left_tile\()h.s[w12, 0]}, p1\predication, [at]
  \instruction {\right_tile\()h.s[w12, 0]}, p2\predication, [at, lanes, lsl #2]
  add at, at, acc_bytes
  add w12, w12, #1
  subs rows, rows, #1
  ccmp x12, lanes, #4, ne  // equal if no rows are left
  b.ne LOCAL(row\@)
.endm

// Stores or loads all counters except those that BMOPA made beyond m and n.
.macro four_tiles instruction, predication
  madd at, x, acc_bytes, acc
  add at, at, column, lsl #2
  sub rows, m, x
  two_tiles \instruction, za0, za1, \predication
  cbz rows, LOCAL(no_more\@)
  two_tiles \instruction, za2, za3, \predication
LOCAL(no_more\@):
.endm

  begin_function larq_engine_bgemm_sme2_32x32x32
  stp d8, d9, [sp, #-64]!
  .cfi_def_cfa_offset 64
  stp d10, d11, [sp, #16]
  stp d12, d13, [sp, #32]
  stp d14, d15, [sp, #48]
  smstart

  // A function further up may have left values in ZA, which the first function that needs ZA must
  // save: the lazy scheme of the procedure call standard.
  mrs x9, tpidr2_el0
  cbz x9, LOCAL(za_is_free)
  ldr at, [x9]        // the address to save to
  ldrh w10, [x9, #8]  // the number of vectors
  msr tpidr2_el0, xzr
  mov w12, #0
LOCAL(save):
  cmp w12, w10
  b.hs LOCAL(za_is_free)
  str za[w12, 0], [at]
  addvl at, at, #1
  add w12, w12, #1
  b LOCAL(save)
LOCAL(za_is_free):

  ldp m, words, [part]
  ldp runs, segments, [part, #16]
  ldp lhs_base, left, [part, #32]
  cntw lanes
  ptrue p0.s
LOCAL(segment):
  mov word, #0
  mov round_base, lhs_base
LOCAL(words):
  sub round_words, words, word
  cmp round_words, lanes
  csel round_words, round_words, lanes, lo
  whilelo p1.s, xzr, round_words
  mov x, #0
LOCAL(pixels):
  sub rows, m, x
  cmp rows, lanes
  csel rows, rows, lanes, lo
  add at, runs, x, lsl #3
  add at, at, rows, lsl #3
  sub w12, w15, #1  // rows
LOCAL(load):
  ldr offset, [at, #-8]!
  ld1w {za0h.s[w12, 0]}, p1/z, [round_base, offset, lsl #2]
  subs w12, w12, #1
  b.pl LOCAL(load)
  mov at, #32
  whilelo p2.s, x, at
  add at, left, x, lsl #2
  mov w12, #0
LOCAL(store):
  mova z0.s, p0/m, za0v.s[w12, 0]
  not z0.s, p0/m, z0.s
  st1w {z0.s}, p2, [at]
  add at, at, #32 * 4
  add w12, w12, #1
  cmp x12, round_words
  b.lo LOCAL(store)
  add x, x, lanes
  cmp x, m
  b.lo LOCAL(pixels)
  add left, left, round_words, lsl #7
  add round_base, round_base, lanes, lsl #2
  add word, word, lanes
  cmp word, words
  b.lo LOCAL(words)
  add runs, runs, #32 * 8
  subs segments, segments, #1
  b.ne LOCAL(segment)

  ldp n, right_end, [part, #48]
  ldp acc, acc_bytes, [part, #64]
  ldp next_block, is_first, [part, #80]
  ldr first_depth, [part, #40]
  sub first_depth, first_depth, left_end
  asr first_depth, first_depth, #2
  mov at, #32
  .inst 0x25ad4ff0    // whilelo pn8.s, xzr, x13, vlx2
  lsl step, lanes, #1
  cmp step, at
  csel step, step, at, lo
  mov column, #0
LOCAL(columns):
  orr at, column, #31
  add at, at, #1
  cmp at, n
  csel at, at, n, lo  // the end of the block's columns
  whilelo p1.s, column, at
  add depth, column, lanes
  whilelo p2.s, depth, at
  mov x, #0
LOCAL(count):
  cbz is_first, LOCAL(add)
  zero {za}
  b LOCAL(zeroed)
LOCAL(add):
  four_tiles ld1w, /z
LOCAL(zeroed):
  add at, left_end, x, lsl #2
  mov depth, first_depth
LOCAL(word):
  .inst 0xa00e41a0    // ld1w {z0.s-z1.s}, pn8/z, [x13, x14, lsl #2]: pixels
  .inst 0xa00e4162    // ld1w {z2.s-z3.s}, pn8/z, [x11, x14, lsl #2]: columns
  .inst 0x80820008    // bmopa za0.s, p0/m, p0/m, z0.s, z2.s
  .inst 0x80830009    // bmopa za1.s, p0/m, p0/m, z0.s, z3.s
  .inst 0x8082002a    // bmopa za2.s, p0/m, p0/m, z1.s, z2.s
  .inst 0x8083002b    // bmopa za3.s, p0/m, p0/m, z1.s, z3.s
  adds depth, depth, #32
  b.ne LOCAL(word)
  four_tiles st1w
  add x, x, step
  cmp x, m
  b.lo LOCAL(count)
  add column, column, step
  add right_end, right_end, step, lsl #2
  tst column, #31
  b.ne LOCAL(same_block)
  add right_end, right_end, next_block
LOCAL(same_block):
  cmp column, n
  b.lo LOCAL(columns)

  smstop
  ldp d10, d11, [sp, #16]
  ldp d12, d13, [sp, #32]
  ldp d14, d15, [sp, #48]
  ldp d8, d9, [sp], #64
  .cfi_def_cfa_offset 0
  ret
  end_function larq_engine_bgemm_sme2_32x32x32
