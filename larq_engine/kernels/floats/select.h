// Chooses the row of products of floats, and tells whether it is as fast as the host.
#ifndef LARQ_ENGINE_KERNELS_FLOATS_SELECT_H_
#define LARQ_ENGINE_KERNELS_FLOATS_SELECT_H_

#include "larq_engine/kernels/common/float_conv2d_spec.h"
#include "larq_engine/kernels/floats/table.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

// Returns the highest row that the CPU has.
const FloatRow& SelectFloats(CpuFeatures cpu);

// Returns the cycles that one output pixel is expected to take.
double FloatCycles(const FloatRow& row, const FloatConv2dSpec& spec);

// Tells whether convolutions are known to take no longer with this row than in a host.
bool PrefersFloats(const FloatRow& row);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_FLOATS_SELECT_H_
