// Chooses a row of a table, of any family: among the rows that a CPU runs, by their order or by
// their cost, or by name.
#ifndef LARQ_ENGINE_KERNELS_ISA_CHOOSE_ROW_H_
#define LARQ_ENGINE_KERNELS_ISA_CHOOSE_ROW_H_

#include <span>
#include <string>
#include <string_view>

#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

// The forced name that leaves the choice to the cost of each row.
inline constexpr std::string_view kAutoKernel = "auto";

// The name of ReferenceBconv2d, which needs no row; callers look for it first.
inline constexpr std::string_view kReferenceKernel = "reference";

// Returns the row of this name; null if there is none.
template <typename Row>
const Row* FindRow(std::span<const Row> rows, std::string_view name) {
  for (const Row& row : rows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// Returns the last row that the CPU runs. The rows go from the lowest ISA to the highest, and every
// CPU runs the first one.
template <typename Row>
const Row& HighestRow(std::span<const Row> rows, CpuFeatures cpu) {
  const Row* highest = &rows.front();
  for (const Row& row : rows) {
    if (cpu.Has(row.isa)) highest = &row;
  }
  return *highest;
}

// Returns the row named `forced`, or with kAutoKernel the first of the rows of least cost that the
// CPU runs; null if it runs none of them.
template <typename Row, typename Cost>
const Row* CheapestRow(std::span<const Row> rows, CpuFeatures cpu, std::string_view forced,
                       const Cost& cost) {
  const Row* cheapest = nullptr;
  for (const Row& row : rows) {
    if (!cpu.Has(row.isa) || (forced != kAutoKernel && forced != row.name)) continue;
    if (cheapest == nullptr || cost(row) < cost(*cheapest)) cheapest = &row;
  }
  return cheapest;
}

// Returns the names of the rows that the CPU runs, with the separator between them.
template <typename Row>
std::string NamesOfRows(std::span<const Row> rows, CpuFeatures cpu, std::string_view separator) {
  std::string text;
  for (const Row& row : rows) {
    if (!cpu.Has(row.isa)) continue;
    if (!text.empty()) text += separator;
    text += row.name;
  }
  return text;
}

// Tells whether rows of floats and bytes of this ISA are known to be as fast as a host's: those of
// x86 were timed beside XNNPACK, and the portable ones are slower. Nobody has timed those of ARM,
// which only predictions chose (docs/lab.md). So a convolution that a host could compute stays
// with it there, while models without a host run on these rows.
bool IsKnownToKeepUpWithHosts(Isa isa);

// Tells why a CPU that lacks the ISA cannot run its rows.
std::string Obstacle(Isa isa);

// Tells why the named kernel is unavailable: there is none of that name, or the CPU lacks its ISA.
// `names` lists the available ones.
std::string WhyNoKernel(std::string_view forced, const Isa* isa, std::string_view names);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_ISA_CHOOSE_ROW_H_
