#include "semihosting.h"

#include <string.h>

// ARM's specification "Semihosting for AArch32 and AArch64" numbers the operations.
enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITE0 = 0x04,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_GET_CMDLINE = 0x15,
  SYS_EXIT_EXTENDED = 0x20,
};
enum { MODE_RB = 1, MODE_WB = 5 };
enum { APPLICATION_EXIT = 0x20026 };

static uintptr_t as_word(const void* pointer) { return (uintptr_t)pointer; }

// Each operation takes one word, which most use as the address of a block of words.
static uintptr_t call(uintptr_t operation, uintptr_t argument) {
#ifdef __arm__
  register uintptr_t r0 __asm__("r0") = operation;
  register uintptr_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#else
  // The two shifts, which change nothing, tell this breakpoint from others. All three must be
  // uncompressed and lie in one page of memory.
  register uintptr_t a0 __asm__("a0") = operation;
  register uintptr_t a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".balign 16\n"  // before norvc: padding may be compressed, as what is before it
      ".option push\n"
      ".option norvc\n"
      "slli x0, x0, 0x1f\n"
      "ebreak\n"
      "srai x0, x0, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#endif
}

void semihosting_command_line(const char* words[], size_t count) {
  static char line[256];
  uintptr_t block[] = {as_word(line), sizeof(line)};
  if (call(SYS_GET_CMDLINE, as_word(block)) != 0) {
    semihosting_fail("expected a command line of less than 256 bytes", "");
  }
  char* text = line;
  for (size_t n = 0; n < count; ++n) {
    words[n] = text;
    while (*text != '\0' && *text != ' ') ++text;
    while (*text == ' ') *text++ = '\0';
  }
}

int semihosting_open(const char* path, semihosting_mode mode) {
  const uintptr_t block[] = {as_word(path), mode == SEMIHOSTING_READ ? MODE_RB : MODE_WB,
                             strlen(path)};
  return (int)call(SYS_OPEN, as_word(block));
}

size_t semihosting_read(int file, void* to, size_t bytes) {
  const uintptr_t block[] = {(uintptr_t)file, as_word(to), bytes};
  const uintptr_t not_read = call(SYS_READ, as_word(block));
  return not_read > bytes ? 0 : bytes - not_read;
}

bool semihosting_write(int file, const void* from, size_t bytes) {
  const uintptr_t block[] = {(uintptr_t)file, as_word(from), bytes};
  return call(SYS_WRITE, as_word(block)) == 0;
}

bool semihosting_close(int file) {
  const uintptr_t block[] = {(uintptr_t)file};
  return call(SYS_CLOSE, as_word(block)) == 0;
}

void semihosting_print(const char* text) { call(SYS_WRITE0, as_word(text)); }

void semihosting_print_number(uint64_t number, unsigned base) {
  char text[24];
  char* digit = text + sizeof(text) - 1;
  *digit = '\0';
  do {
    *--digit = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  semihosting_print(digit);
}

void semihosting_fail(const char* why, const char* of_what) {
  semihosting_print("error: ");
  semihosting_print(why);
  semihosting_print(of_what);
  semihosting_print("\n");
  semihosting_exit(1);
}

void semihosting_exit(int status) {
  const uintptr_t block[] = {APPLICATION_EXIT, (uintptr_t)status};
  call(SYS_EXIT_EXTENDED, as_word(block));
  for (;;) {
  }
}
