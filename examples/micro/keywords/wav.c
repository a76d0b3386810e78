#include "wav.h"

#include <stdbool.h>
#include <string.h>

#include "../boards/semihosting.h"
#include "tables.h"

// Processors that this runs on have the bytes of a number in the same order as WAV files.
typedef struct {
  char name[4];
  uint32_t bytes;
} chunk;

typedef struct {
  uint16_t coding, channels;
  uint32_t rate, bytes_per_second;
  uint16_t bytes_per_moment, bits;
} format;

enum { PLAIN_NUMBERS = 1 };

static bool is_named(const char* name, const char* expected) {
  return memcmp(name, expected, 4) == 0;
}

static void read_header(const wav* sound, void* to, size_t bytes) {
  if (semihosting_read(sound->file, to, bytes) == bytes) return;
  semihosting_fail("expected a WAV file with sound, got one that ends in its header: ",
                   sound->path);
}

static void skip(const wav* sound, uint32_t bytes) {
  char skipped[64];
  while (bytes > 0) {
    const uint32_t part = bytes < sizeof(skipped) ? bytes : (uint32_t)sizeof(skipped);
    read_header(sound, skipped, part);
    bytes -= part;
  }
}

static void print_number(const char* before, uint32_t number) {
  semihosting_print(before);
  semihosting_print_number(number, 10);
}

static void check(const wav* sound, const format* found) {
  if (found->coding == PLAIN_NUMBERS && found->channels == 1 && found->bits == 16 &&
      found->rate == RATE) {
    return;
  }
  print_number("error: expected coding ", PLAIN_NUMBERS);
  print_number(" (plain numbers), 1 channel, 16 bits, ", RATE);
  print_number(" Hz, got coding ", found->coding);
  print_number(", channels: ", found->channels);
  print_number(", bits: ", found->bits);
  print_number(", Hz: ", found->rate);
  semihosting_print(" in ");
  semihosting_print(sound->path);
  semihosting_print("; convert the sound, for example with sox or ffmpeg\n");
  semihosting_exit(1);
}

wav wav_open(const char* path) {
  wav sound = {path, semihosting_open(path, SEMIHOSTING_READ), 0};
  if (sound.file < 0) semihosting_fail("cannot open ", path);
  chunk part;
  char kind[4];
  read_header(&sound, &part, sizeof(part));
  read_header(&sound, kind, sizeof(kind));
  if (!is_named(part.name, "RIFF") || !is_named(kind, "WAVE")) {
    semihosting_fail("expected a WAV file, got one that does not begin as such: ", path);
  }
  bool has_format = false;
  for (;;) {
    read_header(&sound, &part, sizeof(part));
    if (is_named(part.name, "data")) break;
    uint32_t left = part.bytes;
    if (is_named(part.name, "fmt ") && left >= sizeof(format)) {
      format found;
      read_header(&sound, &found, sizeof(found));
      check(&sound, &found);
      has_format = true;
      left -= (uint32_t)sizeof(found);
    }
    skip(&sound, left);
    skip(&sound, part.bytes % 2);  // parts begin at even places
  }
  if (!has_format) semihosting_fail("expected the format before the sound in ", path);
  if (part.bytes < sizeof(int16_t)) semihosting_fail("expected sound, got none in ", path);
  sound.samples_left = part.bytes / sizeof(int16_t);
  return sound;
}

size_t wav_read(wav* sound, int16_t* samples, size_t count) {
  if (count > sound->samples_left) count = sound->samples_left;
  const size_t bytes = semihosting_read(sound->file, samples, count * sizeof(*samples));
  if (bytes != count * sizeof(*samples)) {
    print_number("error: expected samples after the last one that there is: ",
                 sound->samples_left - (uint32_t)(bytes / sizeof(*samples)));
    semihosting_print("; the file is shorter than its header says: ");
    semihosting_print(sound->path);
    semihosting_print("\n");
    semihosting_exit(1);
  }
  sound->samples_left -= (uint32_t)count;
  return count;
}
