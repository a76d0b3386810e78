// Runs a model on each of the inputs in a file, and writes its outputs into another.
//
// The command line names both files after the program; without them they are input.bin and
// output.bin. It prints how many instructions the last run took, and how deep the stack got in any.
#include <stdbool.h>
#include <stdint.h>

#include "instructions.h"
#include "model.h"
#include "semihosting.h"

// A header that the compiler is given by -include replaces this where a model has several inputs or
// outputs. `in` and `out` are arrays of bytes, which hold all of them one behind the other.
#ifndef MODEL_CALL
#define MODEL_CALL(arena, in, out) model_run((arena), (const void*)(in), (void*)(out))
#endif

// Tensors of any type may begin at such addresses.
#define ALIGNED __attribute__((aligned(16)))

static model_arena arena;
static uint8_t input[MODEL_INPUT_BYTES] ALIGNED;
static uint8_t output[MODEL_OUTPUT_BYTES] ALIGNED;

// ---- What a run takes ---------------------------------------------------------------------------

extern uint32_t stack_low[];

#ifdef __arm__
#define COPY_STACK_POINTER "mov %0, sp"
#else
#define COPY_STACK_POINTER "mv %0, sp"
#endif

static const uint32_t UNTOUCHED = 0xC0FFEE11;

typedef struct {
  uint64_t instructions;
  uint32_t stack;
} cost;

// Paints the stack below this function's own part, and looks afterwards how much of it was written.
// Nothing but the model may be called in between; on Cortex-M a timer interrupts once in 0.5 to 1
// billion instructions, and what it pushes is counted if it comes where the stack is deepest.
static __attribute__((noinline)) cost run(void) {
  uint32_t* top;
  __asm__ volatile(COPY_STACK_POINTER : "=r"(top));
  for (volatile uint32_t* word = stack_low; word < top; ++word) *word = UNTOUCHED;

  const uint64_t start = instructions_ticks();
  MODEL_CALL(&arena, input, output);
  const uint64_t ticks = instructions_ticks() - start;

  const volatile uint32_t* lowest = stack_low;
  while (lowest < top && *lowest == UNTOUCHED) ++lowest;
  return (cost){instructions_in(ticks), (uint32_t)((uintptr_t)top - (uintptr_t)lowest)};
}

// ---- Files --------------------------------------------------------------------------------------

typedef struct {
  const char *input, *output;
} paths;

static paths paths_of_command_line(void) {
  const char* words[3];
  semihosting_command_line(words, 3);
  return (paths){*words[1] != '\0' ? words[1] : "input.bin",
                 *words[2] != '\0' ? words[2] : "output.bin"};
}

static int opened(const char* path, semihosting_mode mode) {
  const int file = semihosting_open(path, mode);
  if (file < 0) semihosting_fail("cannot open ", path);
  return file;
}

// Tells whether there was one more input.
static bool read_input(int file, const char* path) {
  const size_t bytes = semihosting_read(file, input, sizeof(input));
  if (bytes != 0 && bytes != sizeof(input)) {
    semihosting_fail("expected a whole number of the model's inputs in ", path);
  }
  return bytes != 0;
}

static void print(const char* name, uint64_t number) {
  semihosting_print(name);
  semihosting_print_number(number, 10);
  semihosting_print("\n");
}

int main(void) {
  instructions_start();
  const paths files = paths_of_command_line();
  const int inputs = opened(files.input, SEMIHOSTING_READ);
  const int outputs = opened(files.output, SEMIHOSTING_WRITE);
  cost last = {0, 0};
  uint32_t deepest = 0;
  uint32_t runs = 0;
  for (; read_input(inputs, files.input); ++runs) {
    last = run();
    if (last.stack > deepest) deepest = last.stack;
    if (!semihosting_write(outputs, output, sizeof(output))) {
      semihosting_fail("cannot write to ", files.output);
    }
  }
  if (runs == 0) semihosting_fail("expected an input, got an empty file ", files.input);
  if (!semihosting_close(inputs) || !semihosting_close(outputs)) {
    semihosting_fail("cannot close ", files.output);
  }
  print("instructions: ", last.instructions);
  print("stack: ", deepest);
  return 0;
}
