// Layers of the host on int8 values with constant weights, as its XNNPACK computes them: what
// convolutions and dense layers have in common.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/int8_output.h"
#include "larq_engine/runtime/ops/op_info.h"

namespace larq_engine {

// Whether input, output, the weights' scales and the bias are of a kind that ReadInt8Output and the
// host's XNNPACK take. Of the weights themselves and the activation it does not ask.
bool IsInt8Layer(const OpInfo& op, int channels);

// What follows the sums of each output channel.
Int8Output ReadInt8Output(const OpInfo& op, size_t channels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_
