// Reads the sound of a WAV file of the machine that emulates this one.
#ifndef WAV_H_
#define WAV_H_

#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char* path;
  int file;
  uint32_t samples_left;
} wav;

// Opens a file of one channel with 16 bits a sample, RATE samples a second. Any other ends the
// program with an error.
wav wav_open(const char* path);

// Reads samples, fewer than asked for only at the end of the sound.
size_t wav_read(wav* sound, int16_t* samples, size_t count);

#endif  // WAV_H_
