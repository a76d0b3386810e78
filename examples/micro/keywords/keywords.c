#include "keywords.h"

enum { NO_WORD = -1 };

void keywords_start(keywords* state) {
  spectrogram_start(&state->sound);
  state->samples = 0;
  state->moments_to_look = SIZE;
  state->looks_to_rest = 0;
  state->before = NO_WORD;
}

// Adds noise, which depends on the sample's place, since the network knows no silence.
static int16_t in_hiss(int16_t sample, uint32_t place) {
  uint32_t noise = place * 0x9E3779B1u;
  noise = (noise ^ noise >> 15) * 0x85EBCA77u;
  noise = ((noise ^ noise >> 13) >> 16) * (2 * HISS + 1) >> 16;
  const int32_t sum = sample + (int32_t)noise - HISS;
  return (int16_t)(sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum);
}

bool keywords_push(keywords* state, int16_t sample) {
  if (!spectrogram_push(&state->sound, in_hiss(sample, state->samples++))) return false;
  if (--state->moments_to_look > 0) return false;
  state->moments_to_look = LOOK;
  return true;
}

static bool is_loud(const uint64_t power[SIZE]) {
  uint64_t least = power[0], most = power[0];
  for (uint32_t n = 1; n < SIZE; ++n) {
    if (power[n] < least) least = power[n];
    if (power[n] > most) most = power[n];
  }
  return most > LOUD * least;
}

bool keywords_look(keywords* state, const int8_t scores[WORD_COUNT], keywords_heard* heard) {
  int best = 0;
  for (int word = 1; word < WORD_COUNT; ++word) {
    if (scores[word] > scores[best]) best = word;
  }
  const uint32_t score = (uint32_t)(scores[best] + 128);
  const int word = is_loud(state->sound.power) && score > SURE ? best : NO_WORD;
  const bool is_said = word != NO_WORD && word == state->before && state->looks_to_rest == 0;
  state->before = word;
  if (state->looks_to_rest > 0) --state->looks_to_rest;
  if (!is_said) return false;
  state->looks_to_rest = PAUSE - 1;
  *heard = (keywords_heard){WORDS[word], state->samples, score};
  return true;
}
