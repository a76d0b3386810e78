#include "spectrogram.h"

#include <string.h>

enum { POINTS = WINDOW / 2, CIRCLE = WINDOW, QUARTER = CIRCLE / 4 };

static int32_t cosine(uint32_t angle) {
  angle %= CIRCLE;
  if (angle > CIRCLE / 2) angle = CIRCLE - angle;
  return angle <= QUARTER ? SINES[QUARTER - angle] : -SINES[angle - QUARTER];
}

// Divides by a power of 2, and rounds halves up.
static int32_t shifted(int64_t number, int bits) {
  return (int32_t)((number + ((int64_t)1 << (bits - 1))) >> bits);
}

// Turns a number back by an angle, of whose cosine and sine these are.
static spectrogram_number turned(spectrogram_number x, int32_t cos, int32_t sin) {
  const int64_t real = (int64_t)x.real * cos + (int64_t)x.imaginary * sin;
  const int64_t imaginary = (int64_t)x.imaginary * cos - (int64_t)x.real * sin;
  return (spectrogram_number){shifted(real, SINE_BITS), shifted(imaginary, SINE_BITS)};
}

// ---- The transform of a moment ------------------------------------------------------------------

static int32_t windowed(const spectrogram* sound, uint32_t n) {
  const int16_t sample = sound->samples[(sound->oldest + n) % WINDOW];
  const int32_t hann = (1 << (SINE_BITS - 1)) - (cosine(n) >> 1);
  return shifted((int64_t)sample * hann, SINE_BITS - SAMPLE_BITS);
}

// Counts with the bits in reverse order, in which the transform takes its numbers.
static uint32_t next_in_reverse(uint32_t place) {
  uint32_t bit = POINTS / 2;
  for (; (place & bit) != 0; bit >>= 1) place ^= bit;
  return place | bit;
}

// Two samples become one complex number, whose transform has half the size.
static void load(spectrogram* sound) {
  uint32_t place = 0;
  for (uint32_t n = 0; n < WINDOW; n += 2) {
    sound->work[place] = (spectrogram_number){windowed(sound, n), windowed(sound, n + 1)};
    place = next_in_reverse(place);
  }
}

static void transform(spectrogram_number* work) {
  for (uint32_t width = 1; width < POINTS; width *= 2) {
    for (uint32_t turn = 0; turn < width; ++turn) {
      const uint32_t angle = turn * (CIRCLE / 2 / width);
      const int32_t cos = cosine(angle), sin = cosine(angle + 3 * QUARTER);
      for (uint32_t k = turn; k < POINTS; k += 2 * width) {
        const spectrogram_number a = work[k], b = turned(work[k + width], cos, sin);
        work[k] = (spectrogram_number){a.real + b.real, a.imaginary + b.imaginary};
        work[k + width] = (spectrogram_number){a.real - b.real, a.imaginary - b.imaginary};
      }
    }
  }
}

// Returns the power of a frequency of the samples, in squares of samples.
static uint64_t power_of(const spectrogram_number* work, uint32_t k) {
  const spectrogram_number x = work[k], y = work[POINTS - k];
  const spectrogram_number odd = {x.imaginary + y.imaginary, y.real - x.real};
  const spectrogram_number b = turned(odd, cosine(k), cosine(k + 3 * QUARTER));
  // These are doubled, which is one more bit of fraction.
  const int64_t real = (int64_t)x.real + y.real + b.real;
  const int64_t imaginary = (int64_t)x.imaginary - y.imaginary + b.imaginary;
  return (uint64_t)(real * real + imaginary * imaginary) >> 2 * (SAMPLE_BITS + 1);
}

// ---- Levels -------------------------------------------------------------------------------------

// Returns the logarithm to the base of 2 of a number that is not 0.
static uint16_t logarithm(uint64_t number) {
  enum { FRACTION_BITS = 16, BETWEEN = FRACTION_BITS - TABLE_BITS };
  const int exponent = 63 - __builtin_clzll(number);
  const uint64_t aligned = exponent >= FRACTION_BITS ? number >> (exponent - FRACTION_BITS)
                                                     : number << (FRACTION_BITS - exponent);
  const uint32_t rest = (uint32_t)aligned & ((1u << FRACTION_BITS) - 1);
  const uint32_t entry = rest >> BETWEEN, part = rest & ((1u << BETWEEN) - 1);
  const uint32_t low = LOGARITHMS[entry], slope = LOGARITHMS[entry + 1] - low;
  return (uint16_t)(((uint32_t)exponent << LEVEL_BITS) + low + (slope * part >> BETWEEN));
}

// A band is the triangle that rises in one interval and falls in the next one.
static void fill_levels(const spectrogram_number* work, uint16_t levels[SIZE]) {
  const uint64_t whole = 1u << WEIGHT_BITS;
  uint64_t rising_before = 0;
  for (uint32_t interval = 0; interval <= SIZE; ++interval) {
    uint64_t rising = 0, all = 0;
    for (uint32_t k = FIRST_FREQUENCIES[interval]; k < FIRST_FREQUENCIES[interval + 1]; ++k) {
      const uint64_t power = power_of(work, k);
      rising += power * RISING_WEIGHTS[k];
      all += power;
    }
    const uint64_t falling = all * whole - rising;
    if (interval > 0) levels[interval - 1] = logarithm(rising_before + falling + whole);
    rising_before = rising;
  }
}

static uint64_t sum_of_squares(const int16_t samples[WINDOW]) {
  uint64_t sum = 0;
  for (uint32_t n = 0; n < WINDOW; ++n) sum += (uint64_t)((int64_t)samples[n] * samples[n]);
  return sum;
}

// ---- The ring of moments ------------------------------------------------------------------------

void spectrogram_start(spectrogram* sound) {
  memset(sound, 0, sizeof(*sound));
  sound->missing = WINDOW;
}

bool spectrogram_push(spectrogram* sound, int16_t sample) {
  sound->samples[sound->oldest] = sample;
  sound->oldest = (sound->oldest + 1) % WINDOW;
  if (--sound->missing > 0) return false;
  sound->missing = HOP;
  load(sound);
  transform(sound->work);
  const uint32_t slot = sound->moments % SIZE;
  fill_levels(sound->work, sound->levels[slot]);
  sound->power[slot] = sum_of_squares(sound->samples);
  ++sound->moments;
  return true;
}

void spectrogram_write(const spectrogram* sound, int8_t image[SIZE * SIZE]) {
  uint16_t loudest = 0;
  for (uint32_t n = 0; n < SIZE * SIZE; ++n) {
    const uint16_t level = sound->levels[n / SIZE][n % SIZE];
    if (level > loudest) loudest = level;
  }
  for (uint32_t n = 0; n < SIZE * SIZE; ++n) {
    const uint16_t level = sound->levels[(sound->moments + n / SIZE) % SIZE][n % SIZE];
    const uint32_t steps = (uint32_t)(loudest - level) * STEPS;
    const uint32_t below = (steps + (1u << (STEP_BITS - 1))) >> STEP_BITS;
    image[n] = below < 255 ? (int8_t)(127 - (int)below) : (int8_t)-128;
  }
}
