#include "larq_engine/kernels/select.h"

namespace larq_engine {
namespace {

// What rules the row out for this CPU and shape; empty when nothing does.
std::string Obstacle(const BgemmRow& row, CpuFeatures cpu, const BgemmShape& shape) {
  if (!cpu.Has(row.isa)) return std::string("this CPU has no ") + IsaName(row.isa);
  if (shape.k_bits > row.max_k_bits) {
    return "its accumulator holds " + std::to_string(row.max_k_bits) + " bits of depth, needed " +
           std::to_string(shape.k_bits);
  }
  return "";
}

// Cycles in L1. Rows of the tile that m does not fill cost nothing, columns and depth do.
int64_t EstimatedCycles(const BgemmRow& row, const BgemmShape& shape) {
  const int64_t n = (shape.n + row.nr - 1) / row.nr * row.nr;
  const int64_t k_bits = (shape.k_bits + row.kr_bits - 1) / row.kr_bits * row.kr_bits;
  return static_cast<int64_t>(static_cast<double>(shape.m) * static_cast<double>(n) *
                              static_cast<double>(k_bits) / row.macs_per_cycle);
}

}  // namespace

BgemmChoice SelectBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                        std::string_view forced) {
  BgemmChoice choice;
  for (const BgemmRow& row : rows) {
    if (forced != kAutoKernel && forced != row.name) continue;
    const std::string obstacle = Obstacle(row, cpu, shape);
    if (obstacle.empty()) {
      if (choice.row == nullptr ||
          EstimatedCycles(row, shape) < EstimatedCycles(*choice.row, shape)) {
        choice.row = &row;
      }
    } else if (forced != kAutoKernel) {
      choice.error = "kernel '" + std::string(forced) + "' cannot run: " + obstacle;
    }
  }
  if (choice.row == nullptr && choice.error.empty()) {
    choice.error = forced == kAutoKernel
                       ? "no kernel row is deep enough for " + std::to_string(shape.k_bits) +
                             " bits; expected at most 2147483647"
                       : "unknown kernel '" + std::string(forced) + "'; expected one of " +
                             std::string(kAutoKernel) + ", " + BgemmRowNames(rows);
  }
  return choice;
}

std::string ExplainBgemm(std::span<const BgemmRow> rows, CpuFeatures cpu, const BgemmShape& shape,
                         std::string_view forced) {
  const BgemmChoice choice = SelectBgemm(rows, cpu, shape, forced);
  std::string text;
  for (const BgemmRow& row : rows) {
    const std::string obstacle = Obstacle(row, cpu, shape);
    text += &row == choice.row ? "* " : "  ";
    text += row.name;
    text += obstacle.empty() ? ": " + std::to_string(EstimatedCycles(row, shape)) + " cycles\n"
                             : ": " + obstacle + "\n";
  }
  return text + choice.error;
}

std::string BgemmRowNames(std::span<const BgemmRow> rows) {
  std::string names;
  for (const BgemmRow& row : rows) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}

}  // namespace larq_engine
