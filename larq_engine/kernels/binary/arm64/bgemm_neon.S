// The rows for every 64-bit ARM. UADALP, which widens to 16 bits and is slower than other additions
// on several cores, is one in 24 of the vector operations of 128-bit steps, and one in 12 of 64-bit
// steps.
//
//   v16-v23  16 bits for each of 8 columns: pixel 0, columns 0-7; pixel 0, columns 8-15; pixel 1 ...
//   v24-v27  128-bit steps: four bytes for each of 4 columns, one vector a pixel
#include "larq_engine/kernels/binary/arm64/bgemm_tile.inc"

  count_0_0 .req v16
  count_0_1 .req v17
  count_1_0 .req v18
  count_1_1 .req v19
  count_2_0 .req v20
  count_2_1 .req v21
  count_3_0 .req v22
  count_3_1 .req v23
  kept_0 .req v24
  kept_1 .req v25
  kept_2 .req v26
  kept_3 .req v27

.macro clear_pixel i
  movi count_\i\()_0.16b, #0
  movi count_\i\()_1.16b, #0
  .if step_bits == 128
    movi kept_\i\().16b, #0
  .endif
.endm

.macro set_others
.endm

.macro finish_1 i, part, s
  addp \s\()2.16b, \s\()2.16b, \s\()3.16b
.endm
.macro finish_2 i, part, s
  .if step_bits == 128 && \part % 2 == 0
    addp kept_\i\().16b, \s\()0.16b, \s\()2.16b
  .else
    addp \s\()0.16b, \s\()0.16b, \s\()2.16b
  .endif
.endm
.macro finish_3 i, part, s
  .if step_bits == 64
    uadalp count_\i\()_\part\().8h, \s\()0.16b
  .elseif \part % 2 == 1
    addp kept_\i\().16b, kept_\i\().16b, \s\()0.16b
  .endif
.endm
.macro finish_4 i, part, s
  .if step_bits == 128
    .if \part == 1
      uadalp count_\i\()_0.8h, kept_\i\().16b
    .elseif \part == 3
      uadalp count_\i\()_1.8h, kept_\i\().16b
    .endif
  .endif
.endm

.macro store_pixel i
  uxtl v8.4s, count_\i\()_0.4h
  uxtl2 v9.4s, count_\i\()_0.8h
  uxtl v10.4s, count_\i\()_1.4h
  uxtl2 v11.4s, count_\i\()_1.8h
  stp q8, q9, [x15]
  stp q10, q11, [x15, #32]
.endm

  bgemm_function larq_engine_bgemm_neon_1x16x64, 1, 64
  bgemm_function larq_engine_bgemm_neon_2x16x64, 2, 64
  bgemm_function larq_engine_bgemm_neon_3x16x64, 3, 64
  bgemm_function larq_engine_bgemm_neon_4x16x64, 4, 64
  bgemm_function larq_engine_bgemm_neon_1x16x128, 1, 128
  bgemm_function larq_engine_bgemm_neon_2x16x128, 2, 128
  bgemm_function larq_engine_bgemm_neon_3x16x128, 3, 128
  bgemm_function larq_engine_bgemm_neon_4x16x128, 4, 128
