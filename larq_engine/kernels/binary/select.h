// Chooses the micro-kernel of a layer: a pure function of the CPU, the shape and the forced name.
#ifndef LARQ_ENGINE_KERNELS_BINARY_SELECT_H_
#define LARQ_ENGINE_KERNELS_BINARY_SELECT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "larq_engine/kernels/binary/table.h"
#include "larq_engine/kernels/isa/choose_row.h"

namespace larq_engine {

// The product that one group of a layer asks for. The choice does not depend on whether tiles are
// full: rows of a tile that m does not fill cost nothing, or so little (SME2) that a pixel alone
// takes no more instructions than in other rows. A single pixel in all is different: it begins a
// tile of its own, and waits for its filters, which take twice the bytes in rows of nibbles.
struct BgemmShape {
  int64_t n;
  int64_t k_bits;
  int64_t tap_bits = 0;  // bits of the contiguous words of a tap; 0 if all words are contiguous
  int64_t taps = 1;
  int64_t runs = 1;           // runs of taps that are contiguous in the image
  int64_t lines = 1;          // lines of the filter
  int64_t packing_words = 0;  // words that a pixel reads to put the bits of its taps together
  bool one_pixel = false;
};

// Tells whether to put the bits of a pixel's taps together and leave out the bits that only fill up
// a tap's words. With few channels this takes less time than those bits would take in the product:
// 3x3 taps of 3 channels become one word instead of nine.
bool PacksTaps(const BgemmRow& row, const BgemmShape& shape);

// Returns the cycles that one output pixel is expected to take, in a full tile in L1. A layer of
// few pixels takes more, above all in rows of large tiles. Columns and depth that only fill up cost
// as much as real ones. For whole tiles of 1 to 64 columns at depths 576 and 2304, measured times
// were within a quarter of this estimate. If weights have several planes, a pixel's taps are
// gathered once for all of them.
double BgemmCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape,
                   int64_t bits_weights = 1);

// Returns the bytes of one plane of one group's filters, as a row reads them.
double PlaneBytes(const BgemmRow& row, const BgemmShape& shape);

// Returns the cycles for reading `bytes` of filters once, beyond those in a cache near the core.
double ReadCycles(double bytes);

struct BgemmChoice {
  const BgemmRow* row = nullptr;
  std::string error;  // why there is no row, with the names that were expected
};

// Returns the cheapest row of `rows` that this CPU runs, or the row named `forced`. A forced row
// that is unknown, or that the CPU cannot run, is an error and never a fallback. With kAutoKernel
// there is always a row, since every CPU runs the portable one.
BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced = kAutoKernel);

// Returns one line for each row: its estimated cycles, or the reason why it cannot run, with a *
// before the chosen row.
std::string ExplainBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                         std::string_view forced = kAutoKernel);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BINARY_SELECT_H_
