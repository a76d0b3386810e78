#include "instructions.h"

#ifdef __arm__

#define TIMER_CONTROL (*(volatile uint32_t*)0xE000E010)
#define TIMER_START (*(volatile uint32_t*)0xE000E014)

enum { ENABLE = 1, INTERRUPT = 2, PROCESSOR_CLOCK = 4 };
enum { MEASURED_TURNS = 500000, INSTRUCTIONS_PER_TURN = 2 };

volatile uint32_t instructions_wraps = 0;

static uint32_t quarters_per_tick;

void instructions_wrapped(void) { ++instructions_wraps; }

// The boards' clocks differ, so a loop of known length tells what a tick is: 62.5 instructions on
// the microbit (16 MHz), 40 on mps2-an385, -an386 and -an500 (25 MHz), 50 on mps2-an505 (20 MHz),
// 31.25 on mps3-an547 (32 MHz). All are quarters of instructions; rounded to one, they are exact.
void instructions_start(void) {
  TIMER_START = (1u << INSTRUCTIONS_TIMER_BITS) - 1;
  INSTRUCTIONS_TIMER = 0;
  TIMER_CONTROL = ENABLE | INTERRUPT | PROCESSOR_CLOCK;
  const uint64_t before = instructions_ticks();
  uint32_t turns = MEASURED_TURNS;
  __asm__ volatile(
      ".syntax unified\n"
      "1: subs %0, %0, #1\n"
      "bne 1b\n"
      : "+l"(turns)
      :
      : "cc");
  const uint32_t ticks = (uint32_t)(instructions_ticks() - before);
  quarters_per_tick = (4u * INSTRUCTIONS_PER_TURN * MEASURED_TURNS + ticks / 2) / ticks;
}

uint64_t instructions_in(uint64_t ticks) { return ticks * quarters_per_tick / 4; }

#else

void instructions_start(void) {}

uint64_t instructions_in(uint64_t ticks) { return ticks; }

#endif  // __arm__
