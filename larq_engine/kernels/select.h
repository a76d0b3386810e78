// Chooses the micro-kernel of a layer: a pure function of the CPU, the shape and the forced name.
#ifndef LARQ_ENGINE_KERNELS_SELECT_H_
#define LARQ_ENGINE_KERNELS_SELECT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "larq_engine/kernels/kernel_table.h"

namespace larq_engine {

// The forced name that leaves the choice to the cost of each row.
inline constexpr std::string_view kAutoKernel = "auto";

// The name of ReferenceBconv2d, which needs no row; callers look for it first.
inline constexpr std::string_view kReferenceKernel = "reference";

// The product that one group of a layer asks for. Whether a tile is full does not matter: rows of a
// tile that m does not fill cost nothing, or what they cost is so little (SME2) that a pixel alone
// takes no more instructions than in other rows. One pixel in all is another matter: it begins a
// tile for itself, and waits for its filters, of which rows of nibbles have twice the bytes.
struct BgemmShape {
  int64_t n;
  int64_t k_bits;
  int64_t tap_bits = 0;  // of the words of a tap, which lie together; 0 if they all do
  int64_t taps = 1;
  int64_t runs = 1;           // of taps that lie together in the image
  int64_t lines = 1;          // of the filter
  int64_t packing_words = 0;  // that a pixel reads to put the bits of its taps together
  bool one_pixel = false;
};

// Whether to put the bits of a pixel's taps together, without those that only fill up a tap's
// words: for few channels that takes less than they would in the product. 3x3 taps of 3 channels
// are one word then instead of nine.
bool PacksTaps(const BgemmRow& row, const BgemmShape& shape);

// What one output pixel is expected to take, of a full tile in L1; a layer of few pixels takes
// more, in rows of large tiles above all. Columns and depth that only fill up cost as real ones do.
// Measured were, for whole tiles of 1 to 64 columns at depths 576 and 2304, times within a quarter
// of it. Where weights have several planes, a pixel's taps are brought together once for all.
double BgemmCycles(const BgemmRow& row, const BgemmShape& shape, int64_t bits_weights = 1);

// What one plane of one group's filters takes as a row reads it, in bytes.
double PlaneBytes(const BgemmRow& row, const BgemmShape& shape);

// What reading so many bytes of filters once is expected to take, beyond what is at hand.
double ReadCycles(double bytes);

struct BgemmChoice {
  const BgemmRow* row = nullptr;
  std::string error;  // why there is no row; names what was expected
};

// The cheapest row of `rows` that this CPU runs, or the row named `forced`. A forced row that is
// unknown, or that the CPU cannot run, is an error: never a fallback. With kAutoKernel there is
// always a row, since every CPU runs the portable one.
BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced = kAutoKernel);

// Why the kernel of a name cannot be had: there is none, or the CPU lacks its ISA. `names` are
// those that can.
std::string WhyNoKernel(std::string_view forced, const Isa* isa, std::string_view names);

// The names of the rows that this CPU runs, with the separator between them.
std::string NamesOfRows(std::span<const BgemmRow> rows, CpuFeatures cpu,
                        std::string_view separator);

// One line a row: its estimated cycles or what rules it out, with a * before the chosen one.
std::string ExplainBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                         std::string_view forced = kAutoKernel);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SELECT_H_
