// Reads and writes files of the machine that emulates this one, and prints text there.
#ifndef SEMIHOSTING_H_
#define SEMIHOSTING_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { SEMIHOSTING_READ, SEMIHOSTING_WRITE } semihosting_mode;

// Finds the first words of the command line, of which the program is one; "" where there are fewer.
void semihosting_command_line(const char* words[], size_t count);

// Returns a file, or -1.
int semihosting_open(const char* path, semihosting_mode mode);

// Returns how many bytes there were, fewer than asked for only at the end of the file.
size_t semihosting_read(int file, void* to, size_t bytes);

bool semihosting_write(int file, const void* from, size_t bytes);
bool semihosting_close(int file);

void semihosting_print(const char* text);
void semihosting_print_number(uint64_t number, unsigned base);

// Prints "error: ", both texts, and ends the program with status 1.
void semihosting_fail(const char* why, const char* of_what) __attribute__((noreturn));

void semihosting_exit(int status) __attribute__((noreturn));

#endif  // SEMIHOSTING_H_
