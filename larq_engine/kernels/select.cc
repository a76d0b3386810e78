#include "larq_engine/kernels/select.h"

#include <algorithm>
#include <cmath>

namespace larq_engine {
namespace {

// What rules the row out, if the CPU lacks its ISA.
std::string Obstacle(const BgemmRow& row) {
  return std::string("this CPU has no ") + IsaName(row.isa);
}

// Taps that are not whole steps of a row are copied together first: ten instructions a word for
// taps of two words (counted for 64-bit ARM), taken to be two a cycle.
constexpr int kGatherCyclesPerWord = 5;

// Likewise where the bits of taps are put together: an estimate.
constexpr int kPackCyclesPerWord = 2;

double ProductCycles(const BgemmRow& row, const BgemmShape& shape, int64_t k_bits) {
  const int64_t n = (shape.n + row.nr - 1) / row.nr * row.nr;
  const int64_t filled = (k_bits + row.kr_bits - 1) / row.kr_bits * row.kr_bits;
  return static_cast<double>(n) * static_cast<double>(filled) / row.macs_per_cycle;
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

// What a kernel may be called on this CPU.
std::string ExpectedNames(std::span<const BgemmRow> rows, CpuFeatures cpu) {
  return "expected one of " + std::string(kAutoKernel) + ", " + std::string(kReferenceKernel) +
         ", " + NamesOfRows(rows, cpu, ", ");
}

}  // namespace

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

BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced) {
  BgemmChoice choice;
  for (const BgemmRow& row : rows) {
    if (forced != kAutoKernel && forced != row.name) continue;
    if (cpu.Has(row.isa)) {
      if (choice.row == nullptr || BgemmCycles(row, shape) < BgemmCycles(*choice.row, shape)) {
        choice.row = &row;
      }
    } else if (forced != kAutoKernel) {
      choice.error = "kernel '" + std::string(forced) + "' cannot run: " + Obstacle(row) + "; " +
                     ExpectedNames(rows, cpu);
    }
  }
  if (choice.row == nullptr && choice.error.empty()) {
    choice.error = "unknown kernel '" + std::string(forced) + "'; " + ExpectedNames(rows, cpu);
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
                : Obstacle(row);
    text += "\n";
  }
  return text + choice.error;
}

}  // namespace larq_engine
