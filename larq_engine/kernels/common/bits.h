// Defines how +-1 values are stored: one bit per value, where 1 means -1 (smaller than zero), in
// 32-bit little-endian words along the channels. Channel c is bit c % 32 of word c / 32. The unused
// bits of a pixel's last word (the tail) are 0. LCE's files have this layout, so packed tensors are
// used as they lie in the file.
//
// This header is part of both contracts, bgemm.h and pixel_ops.h. All functions are static: a file
// compiled with ISA flags must not share code with one that is not.
#ifndef LARQ_ENGINE_KERNELS_COMMON_BITS_H_
#define LARQ_ENGINE_KERNELS_COMMON_BITS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "packed words are read in pairs as 64-bit words, and files are little-endian");

inline constexpr size_t kWordBits = 32;
inline constexpr size_t kByteBits = 8;

// Word j has only bit j set. Compilers vectorise the test of a bit from a table for any ISA, but
// not a shift by the bit's number.
static constexpr uint32_t kBit[kWordBits] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

static constexpr size_t WordsFor(size_t channels) { return (channels + kWordBits - 1) / kWordBits; }

// Returns a mask of the bits of a pixel's last word that hold channels.
static constexpr uint32_t TailMask(size_t channels) {
  const size_t used = channels % kWordBits;
  return used == 0 ? ~uint32_t{0} : (uint32_t{1} << used) - 1;
}

// Returns `count` bits, 1 to 32, from number `first` on. It reads only words that hold some of
// them.
static inline uint32_t BitsFrom(const uint32_t* bits, size_t first, size_t count) {
  const size_t word = first / kWordBits, shift = first % kWordBits;
  uint64_t found = bits[word] >> shift;
  if (shift + count > kWordBits) found |= uint64_t{bits[word + 1]} << (kWordBits - shift);
  return static_cast<uint32_t>(found) & TailMask(count);
}

static constexpr size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_BITS_H_
