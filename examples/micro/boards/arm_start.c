// Starts a program on a Cortex-M, and ends it if it faults.
#include <stdint.h>

#include "instructions.h"
#include "semihosting.h"

// The linker script defines these; only their addresses mean something.
extern uint32_t stack_low[], stack_high[], data_in_flash[], data_low[], data_high[], bss_low[],
    bss_high[];

extern int main(void);
void start(void);

typedef union {
  uint32_t* stack;
  void (*handler)(void);
} vector;

static const vector VECTORS[16];

#define COPROCESSOR_ACCESS (*(volatile uint32_t*)0xE000ED88)

// Processors reset with the registers of floats and vectors switched off.
static inline void enable_floats(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  COPROCESSOR_ACCESS |= 0xFu << 20;
  __asm__ volatile("dsb\nisb" : : : "memory");
#endif
}

#if __ARM_ARCH == 7

#define MPU_CONTROL (*(volatile uint32_t*)0xE000ED94)
#define MPU_REGION_BASE (*(volatile uint32_t*)0xE000ED9C)
#define MPU_REGION (*(volatile uint32_t*)0xE000EDA0)

enum { NO_CODE = 1 << 28, READ_WRITE = 3 << 24, READ_ONLY = 6 << 24, NORMAL_MEMORY = 1 << 17 };
enum { FOUR_MB = 21 << 1, ENABLED = 1, NUMBER_IS_VALID = 1 << 4 };

// QEMU's boards with these processors, all MPS2, ignore what is written where there is no memory,
// and would let a stack overflow. This leaves their code, read-only, and their data.
static void protect_memory(void) {
  MPU_REGION_BASE = (uint32_t)VECTORS | NUMBER_IS_VALID;
  MPU_REGION = READ_ONLY | NORMAL_MEMORY | FOUR_MB | ENABLED;
  MPU_REGION_BASE = (uint32_t)stack_low | NUMBER_IS_VALID | 1;
  MPU_REGION = READ_WRITE | NO_CODE | NORMAL_MEMORY | FOUR_MB | ENABLED;
  MPU_CONTROL = ENABLED;
  __asm__ volatile("dsb\nisb" : : : "memory");
}

#else

// The other boards fault where there is no memory.
static void protect_memory(void) {}

#endif  // __ARM_ARCH

static __attribute__((noinline, noreturn)) void run_main(void) {
  const uint32_t* from = data_in_flash;
  for (uint32_t* to = data_low; to < data_high; ++to) *to = *from++;
  for (uint32_t* to = bss_low; to < bss_high; ++to) *to = 0;
  protect_memory();
  semihosting_exit(main());
}

// This function itself uses no floats, which the compiler might otherwise put before the switch.
__attribute__((noreturn)) void start(void) {
  enable_floats();
  run_main();
}

// Before an exception the processor pushes eight registers, the seventh of which is where it was.
static __attribute__((noreturn, used)) void report_fault(const uint32_t* pushed) {
  if (pushed < stack_low || pushed + 8 > stack_high) {
    semihosting_fail("HardFault, with the stack pointer outside the stack: it overflowed", "");
  }
  semihosting_print("error: HardFault at 0x");
  semihosting_print_number(pushed[6], 16);
  semihosting_print("\n");
  semihosting_exit(1);
}

// A stack that overflowed cannot be used for the report, so it begins anew.
static __attribute__((naked)) void fault(void) {
  __asm__ volatile(
      ".syntax unified\n"
      "mov r0, sp\n"
      "ldr r1, =stack_high\n"
      "mov sp, r1\n"
      "bl report_fault\n");
}

// Faults that nobody has enabled, of memory, bus, usage and security, become HardFaults.
enum { NMI = 2, HARD_FAULT = 3, SYSTICK = 15 };

__attribute__((section(".start"), used)) static const vector VECTORS[16] = {
    {.stack = stack_high},
    {.handler = start},
    [NMI] = {.handler = fault},
    [HARD_FAULT] = {.handler = fault},
    [SYSTICK] = {.handler = instructions_wrapped},
};
