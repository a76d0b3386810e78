// Starts a program on a RISC-V of 32 bits, in machine mode, and ends it if it traps.

  .option arch, +zicsr

  .section .start, "ax"
  .globl start
start:
  j set_up

  .text
set_up:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, stack_high
  la t0, trap
  csrw mtvec, t0

  // Code and constants become read-only, as in flash, so that a stack that overflows into them
  // traps: bits 0 and 2 allow reading and executing, 3 and 4 stand for NAPOT, and 7 binds this
  // mode, too.
  lui t0, %hi(protected)
  addi t0, t0, %lo(protected)
  csrw pmpaddr0, t0
  li t0, 0x9d
  csrw pmpcfg0, t0

#ifdef __riscv_flen
  // Bits 13 and 14 of mstatus switch the registers of floats on.
  li t0, 0x6000
  csrs mstatus, t0
#endif

  la t0, data_in_flash
  la t1, data_low
  la t2, data_high
1:
  bgeu t1, t2, 2f
  lw t3, 0(t0)
  sw t3, 0(t1)
  addi t0, t0, 4
  addi t1, t1, 4
  j 1b
2:
  la t1, bss_low
  la t2, bss_high
3:
  bgeu t1, t2, 4f
  sw zero, 0(t1)
  addi t1, t1, 4
  j 3b
4:
  call main
  call semihosting_exit

// A stack that overflowed cannot be used for the report, so it begins anew.
  .balign 4
trap:
  la sp, stack_high
  la a0, of_cause
  call semihosting_print
  csrr a0, mcause
  li a1, 0
  li a2, 10
  call semihosting_print_number
  la a0, of_place
  call semihosting_print
  csrr a0, mepc
  li a1, 0
  li a2, 16
  call semihosting_print_number
  la a0, of_value
  call semihosting_print
  csrr a0, mtval
  li a1, 0
  li a2, 16
  call semihosting_print_number
  la a0, of_end
  call semihosting_print
  li a0, 1
  call semihosting_exit

  .section .rodata
of_cause:
  .string "error: trap of cause "
of_place:
  .string " at 0x"
of_value:
  .string ", value 0x"
of_end:
  .string "\n"
