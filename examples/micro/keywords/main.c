// Prints the words that a model hears in a WAV file, as `examples/keywords.py listen` does.
//
// The command line names the file after the program.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../boards/instructions.h"
#include "../boards/semihosting.h"
#include "keywords.h"
#include "model.h"
#include "wav.h"

enum { PIECE = 512 };  // samples that are read at once

static keywords state;
static model_arena arena;
static int8_t image[MODEL_INPUT_ELEMENTS];
static int8_t scores[MODEL_OUTPUT_ELEMENTS];
static uint64_t ticks_of_models;
static uint32_t looks;

// The front end writes bytes and takes scores without looking at what they stand for.
static void check_model(void) {
  const bool is_expected = MODEL_INPUT_BYTES == SIZE * SIZE && MODEL_OUTPUT_BYTES == WORD_COUNT &&
                           MODEL_INPUT_SCALE == 1.0f && MODEL_INPUT_ZERO_POINT == -128 &&
                           MODEL_OUTPUT_SCALE == 1.0f / 256 && MODEL_OUTPUT_ZERO_POINT == -128;
  if (is_expected) return;
  semihosting_fail(
      "expected the model that examples/keywords.py trains with --target microcontroller",
      ", got one of other inputs or outputs");
}

static void print_spaces(size_t count) {
  for (; count > 0; --count) semihosting_print(" ");
}

static void print_hundredths(uint32_t hundredths) {
  semihosting_print_number(hundredths / 100, 10);
  semihosting_print(hundredths % 100 < 10 ? ".0" : ".");
  semihosting_print_number(hundredths % 100, 10);
}

// Prints the time in six columns, and the word in as many.
static void print_word(const keywords_heard* heard) {
  const uint32_t time = (uint32_t)(((uint64_t)heard->sample * 100 + RATE / 2) / RATE);
  print_spaces(time < 1000 ? 2 : time < 10000 ? 1 : 0);
  print_hundredths(time);
  semihosting_print(" s  ");
  semihosting_print(heard->word);
  print_spaces(7 - strlen(heard->word));
  print_hundredths((heard->score * 100 + 128) / 256);
  semihosting_print("\n");
}

static void look(void) {
  const uint64_t start = instructions_ticks();
  spectrogram_write(&state.sound, image);
  model_run(&arena, image, scores);
  ticks_of_models += instructions_ticks() - start;
  ++looks;
  keywords_heard heard;
  if (keywords_look(&state, scores, &heard)) print_word(&heard);
}

// Returns the ticks that all of it took.
static uint64_t listen(const int16_t* samples, size_t count) {
  const uint64_t start = instructions_ticks();
  for (size_t n = 0; n < count; ++n) {
    if (keywords_push(&state, samples[n])) look();
  }
  return instructions_ticks() - start;
}

static void print_cost(const char* what, uint64_t instructions, const char* each) {
  semihosting_print(what);
  semihosting_print_number(instructions, 10);
  semihosting_print(each);
}

int main(void) {
  static int16_t samples[PIECE];
  instructions_start();
  check_model();
  keywords_start(&state);
  const char* words[2];
  semihosting_command_line(words, 2);
  wav sound = wav_open(words[1]);
  uint64_t ticks = 0;
  for (size_t count; (count = wav_read(&sound, samples, PIECE)) > 0;)
    ticks += listen(samples, count);

  // A second of silence follows, so that a word at the end is heard, too.
  for (size_t n = 0; n < PIECE; ++n) samples[n] = 0;
  for (size_t left = RATE; left > 0;) {
    const size_t count = left < PIECE ? left : PIECE;
    ticks += listen(samples, count);
    left -= count;
  }
  const uint64_t of_sound = instructions_in(ticks - ticks_of_models);
  print_cost("spectrogram: ", of_sound * RATE / state.samples, " instructions a second of sound\n");
  print_cost("model: ", instructions_in(ticks_of_models) / looks, " instructions a look\n");
  return 0;
}
