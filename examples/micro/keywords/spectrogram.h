// Makes images of sound for a model, moment by moment: examples/published/sounds.py in C.
//
// It computes in whole numbers of at most 64 bits. Shifts to the right of negative numbers must
// keep the sign, as they do in all compilers for microcontrollers that we know of.
#ifndef SPECTROGRAM_H_
#define SPECTROGRAM_H_

#include <stdbool.h>
#include <stdint.h>

#include "tables.h"

typedef struct {
  int32_t real, imaginary;
} spectrogram_number;

typedef struct {
  int16_t samples[WINDOW];  // a ring
  uint32_t oldest;          // place in the ring
  uint32_t missing;         // samples until the next moment ends
  uint32_t moments;
  uint16_t levels[SIZE][SIZE];  // a ring of moments with logarithms of the power in each band
  uint64_t power[SIZE];         // of all frequencies, in the same moments
  spectrogram_number work[WINDOW / 2];
} spectrogram;

void spectrogram_start(spectrogram* sound);

// Takes a sample, and tells whether a moment ended with it.
bool spectrogram_push(spectrogram* sound, int16_t sample);

// Writes the last SIZE moments as bytes, of which 127 stands for the loudest. There must have been
// as many.
void spectrogram_write(const spectrogram* sound, int8_t image[SIZE * SIZE]);

#endif  // SPECTROGRAM_H_
