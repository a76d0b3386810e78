// Counts the instructions that an emulated processor executes, under QEMU's `-icount shift=0`, in
// which each takes a nanosecond of the machine's own time.
//
// RISC-V processors count them themselves. Cortex-M have a timer, SysTick, whose tick is 31.25
// instructions (Cortex-M55) to 62.5 (Cortex-M0), so that a count there is wrong by up to one tick.
#ifndef INSTRUCTIONS_H_
#define INSTRUCTIONS_H_

#include <stdint.h>

void instructions_start(void);

// Returns how many instructions a number of ticks stands for.
uint64_t instructions_in(uint64_t ticks);

#ifdef __arm__

extern volatile uint32_t instructions_wraps;

// The vector table names this as what SysTick interrupts with.
void instructions_wrapped(void);

enum { INSTRUCTIONS_TIMER_BITS = 24 };
#define INSTRUCTIONS_TIMER (*(volatile uint32_t*)0xE000E018)

// This is inline so that a measurement of the stack sees nothing of it. The timer counts down, and
// interrupts as it becomes 0.
static inline uint64_t instructions_ticks(void) {
  uint32_t wraps, left;
  do {
    wraps = instructions_wraps;
    left = INSTRUCTIONS_TIMER;
  } while (wraps != instructions_wraps);
  const uint32_t gone = (0u - left) & ((1u << INSTRUCTIONS_TIMER_BITS) - 1);
  return ((uint64_t)wraps << INSTRUCTIONS_TIMER_BITS) + gone;
}

#else

static inline uint64_t instructions_ticks(void) {
  uint32_t high, low, high_after;
  do {
    __asm__ volatile(
        ".option push\n"
        ".option arch, +zicsr\n"
        "csrr %0, minstreth\n"
        "csrr %1, minstret\n"
        "csrr %2, minstreth\n"
        ".option pop\n"
        : "=r"(high), "=r"(low), "=r"(high_after));
  } while (high != high_after);
  return ((uint64_t)high << 32) + low;
}

#endif  // __arm__

#endif  // INSTRUCTIONS_H_
