// Loops that make each value of a tensor of one other value.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_
#define LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_

#include <cstddef>

#include "larq_engine/kernels/common/value_functions.h"

namespace larq_engine {

// `alpha` is the slope of a leaky ReLU for negative values, and counts for nothing else. `out` may
// be `in` if values of both have the same size.
using ValueLoop = void (*)(const void* in, size_t count, float alpha, void* out);

// The function must be defined for the type.
ValueLoop LoopOf(ValueFunction function, ValueType type);

// Floats become the integers towards 0, or the nearest limit of the type; NaN becomes the greatest.
// Integers that do not fit wrap around. All numbers but 0 are true.
ValueLoop CastLoopOf(ValueType from, ValueType to);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_VALUE_LOOPS_H_
