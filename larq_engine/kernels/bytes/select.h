// Chooses the row of products of bytes for a convolution of int8 values, and tells whether it is
// faster than the host.
#ifndef LARQ_ENGINE_KERNELS_BYTES_SELECT_H_
#define LARQ_ENGINE_KERNELS_BYTES_SELECT_H_

#include <string_view>

#include "larq_engine/kernels/bytes/table.h"
#include "larq_engine/kernels/common/int8_conv2d_spec.h"
#include "larq_engine/kernels/isa/cpu_features.h"

namespace larq_engine {

// Returns the cycles that one output pixel is expected to take.
double Int8Cycles(const ByteRow& row, const Int8Conv2dSpec& spec);

// Returns the row named `forced`, or the cheapest one that the CPU runs. All of them take seven
// planes of weights.
const ByteRow& SelectInt8(CpuFeatures cpu, const Int8Conv2dSpec& spec, std::string_view forced);

// Tells whether the engine is known to compute the convolution faster than the host.
bool PrefersInt8(const ByteRow& row, const Int8Conv2dSpec& spec);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BYTES_SELECT_H_
