// Which SignedSums an ISA has. Adding one: its .cc, its line in signed_sums_table.cc and in BUILD.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "larq_engine/kernels/cpu_features.h"
#include "larq_engine/kernels/signed_dense_output.h"
#include "larq_engine/kernels/signed_sums.h"

namespace larq_engine {

struct SignedSumsRow {
  const char* name;  // signed_sums_<isa>
  Isa isa;
  const SignedSums* sums;
};

// The rows that this build holds, from the lowest ISA to the highest.
std::span<const SignedSumsRow> SignedSumsRows();

// The highest that the CPU has, and HighestIsa of a forced kernel allows.
const SignedSumsRow& SelectSignedSums(CpuFeatures cpu, std::string_view forced_kernel);

// Whether a dense layer is computed sooner from bits than by a host whose weights are unpacked.
bool PrefersSignedSums(const SignedSumsRow& row, const SignedDenseSize& size);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_
