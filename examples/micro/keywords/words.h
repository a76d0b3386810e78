// Lets ../boards/run_model.c answer for seconds of sound: CALL=words.h.
//
// An input is LENGTH samples of 16 bits. The output is the image of bytes that the model sees,
// and behind it the model's scores.
#include "model.h"
#include "spectrogram.c"

#undef MODEL_INPUT_BYTES
#define MODEL_INPUT_BYTES (2 * LENGTH)
#undef MODEL_OUTPUT_BYTES
#define MODEL_OUTPUT_BYTES (SIZE * SIZE + WORD_COUNT)

static void score_word(model_arena* arena, const int16_t* samples, int8_t* answer) {
  static spectrogram sound;
  spectrogram_start(&sound);
  for (uint32_t n = 0; n < LENGTH; ++n) spectrogram_push(&sound, samples[n]);
  spectrogram_write(&sound, answer);
  model_run(arena, answer, answer + SIZE * SIZE);
}

#define MODEL_CALL(arena, in, out) score_word((arena), (const void*)(in), (void*)(out))
