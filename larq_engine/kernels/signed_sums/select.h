// Chooses the row of signed sums, and tells for which dense layers it is faster than the host.
#ifndef LARQ_ENGINE_KERNELS_SIGNED_SUMS_SELECT_H_
#define LARQ_ENGINE_KERNELS_SIGNED_SUMS_SELECT_H_

#include "larq_engine/kernels/common/signed_dense_output.h"
#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/kernels/signed_sums/table.h"

namespace larq_engine {

// Returns the highest row that the CPU has.
const SignedSumsRow& SelectSignedSums(CpuFeatures cpu);

// Tells whether a dense layer is faster from bits than in a host that unpacks the weights.
bool PrefersSignedSums(const SignedSumsRow& row, const SignedDenseSize& size);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_SIGNED_SUMS_SELECT_H_
