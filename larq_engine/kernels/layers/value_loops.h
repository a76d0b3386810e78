// Loops that make each value of a tensor of one other value.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_
#define LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_

#include <cstddef>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// Returns the row's own loop, if it has one. The function must be defined for the type.
ValueLoop LoopOf(ValueFunction function, ValueType type, const PixelOps& row);

// Floats become the integers towards 0, or the nearest limit of the type; NaN becomes the greatest.
// Integers that do not fit wrap around. All numbers but 0 are true.
ValueLoop CastLoopOf(ValueType from, ValueType to);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_
