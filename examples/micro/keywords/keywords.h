// Decides which words were said: `hear` of examples/keywords.py in C.
#ifndef KEYWORDS_H_
#define KEYWORDS_H_

#include <stdbool.h>
#include <stdint.h>

#include "spectrogram.h"

typedef struct {
  spectrogram sound;
  uint32_t samples;          // how many there were
  uint32_t moments_to_look;  // until the next look
  uint32_t looks_to_rest;    // in which no word is heard
  int before;                // the word of the look before, or -1
} keywords;

typedef struct {
  const char* word;
  uint32_t sample;  // where the second ends that the word was heard in
  uint32_t score;   // 256 stands for 1
} keywords_heard;

void keywords_start(keywords* state);

// Takes a sample, and tells whether it is time to look: to run the model on what
// `spectrogram_write` writes, and to call `keywords_look`.
bool keywords_push(keywords* state, int16_t sample);

// Takes the model's scores, and tells whether a word was said.
bool keywords_look(keywords* state, const int8_t scores[WORD_COUNT], keywords_heard* heard);

#endif  // KEYWORDS_H_
