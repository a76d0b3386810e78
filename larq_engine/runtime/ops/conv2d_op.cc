#include "larq_engine/runtime/ops/conv2d_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {

bool Conv2dOp::CanClaim(const OpInfo& op, bool is_depthwise) {
  if (!HasFloatWeights(op) || op.inputs[0].dims.size() != 4 || op.inputs[1].dims.size() != 4 ||
      !op.builtin_options.activation.has_value() || !op.builtin_options.window.has_value()) {
    return false;
  }
  const std::vector<int>& filter = op.inputs[1].dims;
  const int multiplier = op.builtin_options.file.depth_multiplier;
  if (is_depthwise && (filter[0] != 1 || multiplier < 1 || filter[3] % multiplier != 0)) {
    return false;
  }
  const FloatConv2dSpec spec = Spec(op, is_depthwise);
  return spec.in_channels == op.inputs[0].dims[3] && IsLegal(spec.window) &&
         ReachesLittle(spec.window) && IsBias(op, static_cast<int>(spec.out_channels));
}

// Reads the filter's sizes only: by now the input may have been resized to other channels.
FloatConv2dSpec Conv2dOp::Spec(const OpInfo& op, bool is_depthwise) {
  const std::vector<int>& filter = op.inputs[1].dims;
  return {.is_depthwise = is_depthwise,
          .in_channels =
              is_depthwise ? filter[3] / op.builtin_options.file.depth_multiplier : filter[3],
          .out_channels = filter[is_depthwise ? 3 : 0],
          .window = ConvWindow(op)};
}

bool Conv2dOp::IsHostsOnCpu(const OpInfo& op) {
  return Spec(op, /*is_depthwise=*/true).has_multiplier();
}

Conv2dOp Conv2dOp::Read(const OpInfo& op, bool is_depthwise) {
  const TensorInfo& filter = op.inputs[1];
  CheckConstant(filter, "filter", sizeof(float));
  const FloatConv2dSpec spec = Spec(op, is_depthwise);
  return {.spec = spec,
          .activation = *op.builtin_options.activation,
          .filter = ConstantValues<float>(filter.constant, filter.bytes),
          .bias = ReadBias(op, static_cast<int>(spec.out_channels))};
}

TensorShape Conv2dOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  if (dims[3] != spec.in_channels) {
    throw OpError("input: expected " + std::to_string(spec.in_channels) +
                  " channels, as the filter has, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  return {.dims = OutputDims(spec.window, dims, static_cast<int>(spec.out_channels))};
}

}  // namespace larq_engine
