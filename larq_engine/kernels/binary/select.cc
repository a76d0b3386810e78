#include "larq_engine/kernels/binary/select.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/binary/pack_rhs.h"

namespace larq_engine {
namespace {

// Taps that are not whole steps of a row are first copied together. That takes ten instructions a
// word for taps of two words (counted for 64-bit ARM), assumed to run two a cycle.
constexpr double kGatherCyclesPerWord = 5;

// Putting the bits of taps together takes 0.69 ns a word on a Zen 4, where a cycle of the table is
// 0.58 ns of a product (choice_bench, 1x80 taps of 1 to 64 channels).
constexpr double kPackCyclesPerWord = 1.2;

// Additional cycles of a single pixel before its first word (choice_bench, a dense layer of 784
// inputs).
constexpr double kPackCyclesOfPixel = 75;

// Additional cycles for each run of taps (choice_bench, 3x3 taps of 1 to 16 channels, 2 to 4 bits).
// A long line of taps takes no more than three runs: 80 taps of one channel, of 2 to 8 bits, take
// 12 cycles in addition to their words, because the CPU finds where runs begin ahead of the words.
constexpr double kPackCyclesPerRun = 2.1;
constexpr int64_t kRunsOfLine = 3;

// This part of the filters is in a cache near the core when they are read, and a dense layer of one
// image does not wait for it (choice_bench, dense layers on a Zen 4 with 1 MB of L2).
constexpr double kBytesAtHand = 1 << 20;

// The rest comes at 30 GB/s on a Xeon at 3.9 GHz, two of whose cycles are one of the
// table's.
constexpr double kBytesReadPerCycle = 16;

// A block of four pixels has an overhead in addition to its products; a single pixel has half of it
// (choice_bench, dense layers of 10 outputs on a Zen 4).
constexpr double kPixelsOfBlock = 2;

// The cycles of one pixel: for gathering its taps, which the products of all planes of filters
// share, and for one product.
struct Cycles {
  double gather;
  double product;

  double sum() const { return gather + product; }
};

int MacsPerCycle(CpuFeatures cpu, const BgemmRow& row) {
  return cpu.is_zen4() && row.macs_per_cycle_on_zen4 > 0 ? row.macs_per_cycle_on_zen4
                                                         : row.macs_per_cycle;
}

double ProductCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape, int64_t k_bits,
                     int64_t runs) {
  const auto blocks = static_cast<double>((shape.n + row.nr - 1) / row.nr);
  const int64_t filled = (k_bits + row.kr_bits - 1) / row.kr_bits * row.kr_bits;
  // A single pixel takes as long as a whole mr_step, and begins a tile of its own.
  const int steps = shape.one_pixel ? row.mr_step : 1;
  const double pixels_of_block = shape.one_pixel ? kPixelsOfBlock : row.mr;
  const double pixels_of_tile = shape.one_pixel ? 1 : row.mr;
  const bool waits = shape.one_pixel && row.macs_per_cycle_of_pixel > 0;
  const int macs = waits ? row.macs_per_cycle_of_pixel : MacsPerCycle(cpu, row);
  return steps * blocks *
             (row.nr * static_cast<double>(filled) / macs + row.cycles_per_block / pixels_of_block +
              row.cycles_per_run * static_cast<double>(runs)) +
         row.cycles_per_tile / pixels_of_tile;
}

double RunsCycles(const BgemmShape& shape) {
  return static_cast<double>(std::min(shape.runs, kRunsOfLine * shape.lines)) * kPackCyclesPerRun;
}

Cycles PackedCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape) {
  return {.gather = static_cast<double>(shape.packing_words) * kPackCyclesPerWord +
                    RunsCycles(shape) + (shape.one_pixel ? kPackCyclesOfPixel : 0),
          .product = ProductCycles(cpu, row, shape, shape.k_bits, 1)};
}

Cycles UnpackedCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape) {
  const int64_t k_bits = shape.tap_bits == 0 ? shape.k_bits : shape.taps * shape.tap_bits;
  if (shape.tap_bits % row.kr_bits == 0) {
    return {.gather = 0, .product = ProductCycles(cpu, row, shape, k_bits, shape.runs)};
  }
  const auto words = static_cast<double>(k_bits / static_cast<int64_t>(kWordBits));
  return {.gather = words * kGatherCyclesPerWord,
          .product = ProductCycles(cpu, row, shape, k_bits, 1)};
}

Cycles PixelCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape) {
  return PacksTaps(row, shape) ? PackedCycles(cpu, row, shape) : UnpackedCycles(cpu, row, shape);
}

}  // namespace

bool PacksTaps(const BgemmRow& row, const BgemmShape& shape) {
  const bool fills_up = shape.k_bits < shape.taps * shape.tap_bits;
  // Both ways find the runs, so their cycles do not count here. One pixel gets the same choice as
  // many, because the layer, which packs, does not know how many pixels there will be.
  BgemmShape many = shape;
  many.one_pixel = false;
  const double packed = PackedCycles({}, row, many).sum() - RunsCycles(many);
  return fills_up && packed < UnpackedCycles({}, row, many).sum();
}

double BgemmCycles(CpuFeatures cpu, const BgemmRow& row, const BgemmShape& shape,
                   int64_t bits_weights) {
  const Cycles cycles = PixelCycles(cpu, row, shape);
  return cycles.gather + static_cast<double>(bits_weights) * cycles.product;
}

double PlaneBytes(const BgemmRow& row, const BgemmShape& shape) {
  return static_cast<double>(shape.n * shape.k_bits) / kByteBits *
         static_cast<double>(PackedWordsPerWord(row));
}

double ReadCycles(double bytes) { return std::max(bytes - kBytesAtHand, 0.0) / kBytesReadPerCycle; }

BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced) {
  const auto cycles = [&](const BgemmRow& row) {
    return BgemmCycles(cpu, row, shape) +
           (shape.one_pixel ? ReadCycles(PlaneBytes(row, shape)) : 0);
  };
  BgemmChoice choice;
  choice.row = CheapestRow(rows, cpu, forced, cycles);
  if (choice.row == nullptr) {
    const BgemmRow* const row = FindRow(rows, forced);
    choice.error =
        WhyNoKernel(forced, row == nullptr ? nullptr : &row->isa, NamesOfRows(rows, cpu, ", "));
  }
  return choice;
}

std::string ExplainBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                         std::string_view forced) {
  const BgemmChoice choice = SelectBgemm(rows, cpu, shape, forced);
  std::string text;
  for (const BgemmRow& row : rows) {
    text += &row == choice.row ? "* " : "  ";
    text += row.name;
    text += ": ";
    text += cpu.Has(row.isa)
                ? std::to_string(std::llround(BgemmCycles(cpu, row, shape))) + " cycles a pixel"
                : Obstacle(row.isa);
    text += "\n";
  }
  return text + choice.error;
}

}  // namespace larq_engine
