// The common part of the host's int8 convolutions and dense layers with constant weights, computed
// as the host's XNNPACK does.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/runtime/ops/op_info.h"

namespace larq_engine {

// Tells whether input, output, the weights' scales and the bias are of a kind that ReadInt8Output
// and the host's XNNPACK take. Does not check the weights themselves and the activation.
bool IsInt8Layer(const OpInfo& op, int channels);

// Reads the steps that follow the sums of each output channel.
Int8Output ReadInt8Output(const OpInfo& op, size_t channels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_
