#include "larq_engine/runtime/ops/conv2d_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

Window2d FullWindow(const OpInfo& op) {
  Window2d window = *op.host_options.window;
  window.filter_height = op.inputs[1].dims[1];
  window.filter_width = op.inputs[1].dims[2];
  return window;
}

}  // namespace

bool Conv2dOp::CanClaim(const OpInfo& op, bool is_depthwise) {
  if (!HasFloatWeights(op) || op.inputs[0].dims.size() != 4 || op.inputs[1].dims.size() != 4 ||
      !op.host_options.activation.has_value() || !op.host_options.window.has_value()) {
    return false;
  }
  const std::vector<int>& filter = op.inputs[1].dims;
  const int in_channels = op.inputs[0].dims[3];
  const bool fits = is_depthwise ? filter[0] == 1 && in_channels >= 1 && filter[3] >= in_channels &&
                                       filter[3] % in_channels == 0
                                 : filter[3] == in_channels;
  const Window2d window = FullWindow(op);
  return fits && window.IsLegal() && window.ReachesLittle() &&
         IsBias(op, is_depthwise ? filter[3] : filter[0]);
}

Conv2dOp Conv2dOp::Read(const OpInfo& op, bool is_depthwise) {
  const TensorInfo& filter = op.inputs[1];
  const int out_channels = filter.dims[is_depthwise ? 3 : 0];
  return {.is_depthwise = is_depthwise,
          .in_channels = op.inputs[0].dims[3],
          .out_channels = out_channels,
          .window = FullWindow(op),
          .activation = *op.host_options.activation,
          .filter = ConstantValues<float>(filter.constant, filter.bytes),
          .bias = ReadBias(op, out_channels)};
}

TensorShape Conv2dOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  if (dims[3] != in_channels) {
    throw OpError("input: expected " + std::to_string(in_channels) +
                  " channels, as the filter has, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  return {.dims = window.OutputDims(dims, out_channels)};
}

}  // namespace larq_engine
