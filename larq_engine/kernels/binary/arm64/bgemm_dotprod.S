// The rows for 64-bit ARM with UDOT, which adds up the four bytes of each column in 32 bits, so
// nothing is ever widened.
//
//   v15      ones
//   v16-v31  32 bits for each of 4 columns: pixel 0, columns 0-3; pixel 0, columns 4-7; ...; pixel 1 ...
#include "larq_engine/kernels/binary/arm64/bgemm_tile.inc"

  count_0_0 .req v16
  count_0_1 .req v17
  count_0_2 .req v18
  count_0_3 .req v19
  count_1_0 .req v20
  count_1_1 .req v21
  count_1_2 .req v22
  count_1_3 .req v23
  count_2_0 .req v24
  count_2_1 .req v25
  count_2_2 .req v26
  count_2_3 .req v27
  count_3_0 .req v28
  count_3_1 .req v29
  count_3_2 .req v30
  count_3_3 .req v31

.macro clear_pixel i
  movi count_\i\()_0.16b, #0
  movi count_\i\()_1.16b, #0
  movi count_\i\()_2.16b, #0
  movi count_\i\()_3.16b, #0
.endm

.macro set_others
  movi v15.16b, #1
.endm

.macro finish_1 i, part, s
  addp \s\()2.16b, \s\()2.16b, \s\()3.16b
.endm
.macro finish_2 i, part, s
  .if step_bits == 128
    addp \s\()0.16b, \s\()0.16b, \s\()2.16b
  .elseif \part == 0
    udot count_\i\()_0.4s, \s\()0.16b, v15.16b
  .else
    udot count_\i\()_2.4s, \s\()0.16b, v15.16b
  .endif
.endm
.macro finish_3 i, part, s
  .if step_bits == 128
    udot count_\i\()_\part\().4s, \s\()0.16b, v15.16b
  .elseif \part == 0
    udot count_\i\()_1.4s, \s\()2.16b, v15.16b
  .else
    udot count_\i\()_3.4s, \s\()2.16b, v15.16b
  .endif
.endm
.macro finish_4 i, part, s
.endm

.macro store_pixel i
  .if \i == 0
    stp q16, q17, [x15]
    stp q18, q19, [x15, #32]
  .elseif \i == 1
    stp q20, q21, [x15]
    stp q22, q23, [x15, #32]
  .elseif \i == 2
    stp q24, q25, [x15]
    stp q26, q27, [x15, #32]
  .else
    stp q28, q29, [x15]
    stp q30, q31, [x15, #32]
  .endif
.endm

  bgemm_function larq_engine_bgemm_dotprod_1x16x64, 1, 64
  bgemm_function larq_engine_bgemm_dotprod_2x16x64, 2, 64
  bgemm_function larq_engine_bgemm_dotprod_3x16x64, 3, 64
  bgemm_function larq_engine_bgemm_dotprod_4x16x64, 4, 64
  bgemm_function larq_engine_bgemm_dotprod_1x16x128, 1, 128
  bgemm_function larq_engine_bgemm_dotprod_2x16x128, 2, 128
  bgemm_function larq_engine_bgemm_dotprod_3x16x128, 3, 128
  bgemm_function larq_engine_bgemm_dotprod_4x16x128, 4, 128
