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
// `scale_axis` is the axis of the weights along which there may be several scales.
bool IsInt8Layer(const OpInfo& op, int channels, int scale_axis = 0);

// Limits sizes of convolutions. Nobody needs more, and 64 bits easily hold products of such sizes.
inline constexpr int kMostInt8Size = 1 << 16;

// Tells whether the tensor is a constant of int8 with four dimensions of such sizes.
bool IsInt8Filter(const TensorInfo& filter);

// Tells whether one of the constant weights is -128, which products of bytes do not take.
bool HasLowest(const TensorInfo& weights);

// Returns the activation's range in steps of the output, without the zero point. XNNPACK rounds
// halves to even.
FloatRange Int8Range(Activation activation, const TensorInfo& output);

// Reads the steps that follow the sums of each output channel.
Int8Output ReadInt8Output(const OpInfo& op, size_t channels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_LAYER_H_
