// How +-1 values are stored: one bit per value, bit 1 means -1, in 32-bit words along the channels,
// channel c in word c / 32 at bit c % 32. The unused bits of a pixel's last word (the tail) are 0.
// This is the layout of LCE's files, so packed tensors are used as they lie in the file.
#ifndef LARQ_ENGINE_KERNELS_BITS_H_
#define LARQ_ENGINE_KERNELS_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace larq_engine {

static_assert(std::endian::native == std::endian::little,
              "packed words are read in pairs as 64-bit words, and files are little-endian");

inline constexpr size_t kWordBits = 32;

// Functions are static: a file compiled with ISA flags must not share code with one that is not.

static constexpr size_t WordsFor(size_t channels) { return (channels + kWordBits - 1) / kWordBits; }

// The bits of a pixel's last word that hold channels.
static constexpr uint32_t TailMask(size_t channels) {
  const size_t used = channels % kWordBits;
  return used == 0 ? ~uint32_t{0} : (uint32_t{1} << used) - 1;
}

static constexpr size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BITS_H_
