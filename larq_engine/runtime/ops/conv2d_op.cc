#include "larq_engine/runtime/ops/conv2d_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {

namespace {

// Tells whether the filter takes the input's channels.
bool TakesChannels(const OpInfo& op, Conv2dOp::Form form) {
  const std::vector<int>& filter = op.inputs[1].dims;
  const int channels = op.inputs[0].dims[3];
  if (form == Conv2dOp::kUsual) return filter[3] == channels;
  if (form == Conv2dOp::kGrouped) {
    return channels >= 1 && channels % filter[3] == 0 && filter[0] % (channels / filter[3]) == 0;
  }
  const int multiplier = op.builtin_options.file.depth_multiplier;
  return filter[0] == 1 && multiplier >= 1 && filter[3] % multiplier == 0 &&
         filter[3] / multiplier == channels;
}

}  // namespace

bool Conv2dOp::CanClaim(const OpInfo& op, Form form) {
  return op.builtin_options.window.has_value() && CanClaimAny(op, form);
}

bool Conv2dOp::CanClaimAny(const OpInfo& op, Form form) {
  if (!HasFloatWeights(op) || op.inputs[0].dims.size() != 4 || op.inputs[1].dims.size() != 4 ||
      !op.builtin_options.activation.has_value() ||
      !op.builtin_options.dilated_window.has_value() || !TakesChannels(op, form)) {
    return false;
  }
  const FloatConv2dSpec spec = Spec(op, form);
  return IsLegal(spec.window) && ReachesLittle(spec.window) &&
         IsBias(op, static_cast<int>(spec.out_channels));
}

FloatConv2dSpec Conv2dOp::Spec(const OpInfo& op, Form form) {
  const std::vector<int>& filter = op.inputs[1].dims;
  const bool is_depthwise = form == kDepthwise;
  // In a host the input may have been resized to other channels by now.
  const int channels = is_depthwise       ? filter[3] / op.builtin_options.file.depth_multiplier
                       : form == kGrouped ? op.inputs[0].dims[3]
                                          : filter[3];
  return {.is_depthwise = is_depthwise,
          .in_channels = channels,
          .out_channels = filter[is_depthwise ? 3 : 0],
          .groups = is_depthwise ? 1 : channels / filter[3],
          .window = ConvWindow(op)};
}

bool Conv2dOp::IsHostsOnCpu(const OpInfo& op) { return Spec(op, kDepthwise).has_multiplier(); }

Conv2dOp Conv2dOp::Read(const OpInfo& op, Form form) {
  const TensorInfo& filter = op.inputs[1];
  CheckConstant(filter, "filter", sizeof(float));
  const FloatConv2dSpec spec = Spec(op, form);
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
