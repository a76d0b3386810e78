// The SignedSums of each ISA. A new one takes its .cc and its line in table.cc.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_

#include <span>

#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/signed_sums/signed_sums.h"

namespace larq_engine {

struct SignedSumsRow {
  const char* name;  // signed_sums_<isa>
  Isa isa;
  const SignedSums* sums;
};

// Returns the rows that this build holds, from the lowest ISA to the highest.
std::span<const SignedSumsRow> SignedSumsRows();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_TABLE_H_
