#include "larq_engine/kernels/select.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/kernels/pack_rhs.h"

namespace larq_engine {
namespace {

// What rules the rows of an ISA out, if the CPU lacks it.
std::string Obstacle(Isa isa) {
  const std::string lacks = std::string("this CPU has no ") + IsaName(isa);
  return isa == Isa::kAmxint8 ? lacks + ", or the system withholds it" : lacks;
}

// Taps that are not whole steps of a row are copied together first: ten instructions a word for
// taps of two words (counted for 64-bit ARM), taken to be two a cycle.
constexpr int kGatherCyclesPerWord = 5;

// Likewise where the bits of taps are put together: an estimate.
constexpr int kPackCyclesPerWord = 2;

double ProductCycles(const BgemmRow& row, const BgemmShape& shape, int64_t k_bits) {
  const auto blocks = static_cast<double>((shape.n + row.nr - 1) / row.nr);
  const int64_t filled = (k_bits + row.kr_bits - 1) / row.kr_bits * row.kr_bits;
  return blocks * (row.nr * static_cast<double>(filled) / row.macs_per_cycle +
                   static_cast<double>(row.cycles_per_block) / row.mr);
}

double PackedCycles(const BgemmRow& row, const BgemmShape& shape) {
  return ProductCycles(row, shape, shape.k_bits) +
         static_cast<double>(shape.packing_words * kPackCyclesPerWord);
}

double UnpackedCycles(const BgemmRow& row, const BgemmShape& shape) {
  const int64_t k_bits = shape.tap_bits == 0 ? shape.k_bits : shape.taps * shape.tap_bits;
  const bool is_gathered = shape.tap_bits % row.kr_bits != 0;
  const int64_t gather =
      is_gathered ? k_bits / static_cast<int64_t>(kWordBits) * kGatherCyclesPerWord : 0;
  return ProductCycles(row, shape, k_bits) + static_cast<double>(gather);
}

}  // namespace

std::string WhyNoKernel(std::string_view forced, const Isa* isa, std::string_view names) {
  const std::string kernel = "kernel '" + std::string(forced) + "'";
  return (isa == nullptr ? "unknown " + kernel : kernel + " cannot run: " + Obstacle(*isa)) +
         "; expected one of " + std::string(kAutoKernel) + ", " + std::string(kReferenceKernel) +
         ", " + std::string(names);
}

std::string NamesOfRows(std::span<const BgemmRow> rows, CpuFeatures cpu,
                        std::string_view separator) {
  std::string text;
  for (const BgemmRow& row : rows) {
    if (!cpu.Has(row.isa)) continue;
    if (!text.empty()) text += separator;
    text += row.name;
  }
  return text;
}

bool PacksTaps(const BgemmRow& row, const BgemmShape& shape) {
  const bool fills_up = shape.k_bits < shape.taps * shape.tap_bits;
  return fills_up && PackedCycles(row, shape) < UnpackedCycles(row, shape);
}

double BgemmCycles(const BgemmRow& row, const BgemmShape& shape) {
  const double product =
      PacksTaps(row, shape) ? PackedCycles(row, shape) : UnpackedCycles(row, shape);
  return product + static_cast<double>(row.cycles_per_tile) / row.mr;
}

double ReadCycles(const BgemmRow& row, const BgemmShape& shape) {
  const auto bits = static_cast<double>(shape.n * shape.k_bits);
  return bits / kByteBits * static_cast<double>(PackedWordsPerWord(row)) / kBytesReadPerCycle;
}

BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced) {
  const auto cycles = [&](const BgemmRow& row) {
    return BgemmCycles(row, shape) + (shape.one_pixel ? ReadCycles(row, shape) : 0);
  };
  BgemmChoice choice;
  const Isa* forced_isa = nullptr;
  for (const BgemmRow& row : rows) {
    if (forced != kAutoKernel && forced != row.name) continue;
    forced_isa = &row.isa;
    if (!cpu.Has(row.isa)) continue;
    if (choice.row == nullptr || cycles(row) < cycles(*choice.row)) choice.row = &row;
  }
  if (choice.row == nullptr) {
    choice.error = WhyNoKernel(forced, forced_isa, NamesOfRows(rows, cpu, ", "));
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
                ? std::to_string(std::llround(BgemmCycles(row, shape))) + " cycles a pixel"
                : Obstacle(row.isa);
    text += "\n";
  }
  return text + choice.error;
}

}  // namespace larq_engine
