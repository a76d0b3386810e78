// Loops that make each value of a line of one value of each operand.
#ifndef LARQ_ENGINE_KERNELS_LAYERS_BROADCAST_LOOPS_H_
#define LARQ_ENGINE_KERNELS_LAYERS_BROADCAST_LOOPS_H_

#include <cstddef>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {

// Returns the row's own loop, if it has one. The function must be defined for the type.
PairLoop LoopOf(PairFunction function, ValueType type, const PixelOps& row);

// Applies an activation to floats or integers in place.
void Activate(Activation activation, ValueType type, size_t count, void* values);

// Takes values of `a` where the condition, a bool, is true, and those of `b` elsewhere.
using SelectLoop = void (*)(const LineOperand& condition, const LineOperand& a,
                            const LineOperand& b, size_t count, void* out);

// `value_bytes` is 1, 4 or 8.
SelectLoop SelectLoopOf(size_t value_bytes);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_LAYERS_BROADCAST_LOOPS_H_
