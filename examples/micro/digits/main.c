// Reads handwritten digits: prints the first ones as text, and how many of all are read right.
//
// The command line names the file that `examples/digits.py --target microcontroller` writes: of
// each digit the bytes that the model takes, and behind them the digit that it is.
#include <stdbool.h>
#include <stdint.h>

#include "../boards/semihosting.h"
#include "model.h"

enum { SIDE = 8, DIGITS = 10, SHOWN = 3 };

typedef struct {
  int8_t image[SIDE * SIDE];
  int8_t label;
} digit;

static model_arena arena;
static int8_t scores[MODEL_OUTPUT_ELEMENTS];

static void check_model(void) {
  if (MODEL_INPUT_BYTES == SIDE * SIDE && MODEL_OUTPUT_BYTES == DIGITS) return;
  semihosting_fail("expected the model that examples/digits.py makes with --target microcontroller",
                   ", got one of other inputs or outputs");
}

static int read_digit(const int8_t* image) {
  model_run(&arena, image, scores);
  int best = 0;
  for (int n = 1; n < DIGITS; ++n) {
    if (scores[n] > scores[best]) best = n;
  }
  return best;
}

static void print_digit(const int8_t* image, int answer) {
  static const char shades[] = " .:-=+*#%@";
  for (int line = 0; line < SIDE; ++line) {
    char text[2 * SIDE + 2];
    for (int column = 0; column < SIDE; ++column) {
      const int byte = image[line * SIDE + column] + 128;
      text[2 * column] = text[2 * column + 1] = shades[byte * 10 / 256];
    }
    text[2 * SIDE] = '\n';
    text[2 * SIDE + 1] = '\0';
    semihosting_print(text);
  }
  semihosting_print("this is a ");
  semihosting_print_number((uint64_t)answer, 10);
  semihosting_print("\n");
}

int main(void) {
  check_model();
  const char* words[2];
  semihosting_command_line(words, 2);
  const char* path = words[1];
  const int file = semihosting_open(path, SEMIHOSTING_READ);
  if (file < 0) semihosting_fail("cannot open ", path);
  static digit shown;
  uint32_t count = 0, right = 0;
  size_t bytes;
  for (; (bytes = semihosting_read(file, &shown, sizeof(shown))) == sizeof(shown); ++count) {
    const int answer = read_digit(shown.image);
    if (count < SHOWN) print_digit(shown.image, answer);
    if (answer == shown.label) ++right;
  }
  if (bytes != 0 || count == 0) {
    semihosting_fail("expected digits of 64 bytes and a label, got something else at the end of ",
                     path);
  }
  semihosting_print_number(right, 10);
  semihosting_print(" of ");
  semihosting_print_number(count, 10);
  semihosting_print(" digits right\n");
  return 0;
}
