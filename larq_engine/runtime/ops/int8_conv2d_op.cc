#include "larq_engine/runtime/ops/int8_conv2d_op.h"

#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {
namespace {

// Tells whether the operator is a convolution of images of int8 whose channels the filter takes.
bool IsConv(const OpInfo& op, Int8Conv2dOp::Form form) {
  if (op.inputs.size() < 2 || op.inputs.size() > 3 || op.inputs[0].dims.size() != 4 ||
      !op.builtin_options.activation.has_value() ||
      !op.builtin_options.dilated_window.has_value() || !IsInt8Filter(op.inputs[1])) {
    return false;
  }
  const std::vector<int>& filter = op.inputs[1].dims;
  const Window2d window = ConvWindow(op);
  const int channels = op.inputs[0].dims[3];
  if (channels < 1 || channels > kMostInt8Size || !IsLegal(window) || !ReachesLittle(window)) {
    return false;
  }
  if (form == Int8Conv2dOp::kDepthwise) {
    return filter[0] == 1 && filter[3] % channels == 0 && IsInt8Layer(op, filter[3], 3);
  }
  if (form == Int8Conv2dOp::kUsual) return channels == filter[3] && IsInt8Layer(op, filter[0]);
  return channels % filter[3] == 0 && filter[0] % (channels / filter[3]) == 0 &&
         IsInt8Layer(op, filter[0]);
}

}  // namespace

bool Int8Conv2dOp::CanClaim(const OpInfo& op) {
  // Hosts compute convolutions without a bias by another kernel, or not at all.
  if (!IsConv(op, kUsual) || op.inputs.size() != 3 || !op.inputs[2].present) return false;
  const Int8Conv2dOp read = Read(op, kUsual);
  return !read.is_plain;
}

bool Int8Conv2dOp::CanClaimAny(const OpInfo& op, Form form) { return IsConv(op, form); }

Int8Conv2dSpec Int8Conv2dOp::Spec(const OpInfo& op, Form form) {
  const std::vector<int>& filter = op.inputs[1].dims;
  // In a host the input may have been resized to other channels by now.
  const int channels = form == kUsual ? filter[3] : op.inputs[0].dims[3];
  const bool is_depthwise = form == kDepthwise;
  return {.in_channels = channels,
          .out_channels = is_depthwise ? filter[3] : filter[0],
          .groups = is_depthwise ? channels : channels / filter[3],
          .window = ConvWindow(op),
          .zero_point = ZeroPointOf(op.inputs[0])};
}

Int8Conv2dOp Int8Conv2dOp::Read(const OpInfo& op, Form form) {
  const TensorInfo& filter = op.inputs[1];
  Int8Conv2dOp read{.spec = Spec(op, form),
                    .form = form,
                    .filter = ConstantValues<int8_t>(filter.constant, filter.bytes),
                    .output = {}};
  read.output = ReadInt8Output(op, static_cast<size_t>(read.spec.out_channels));
  read.is_plain = form == kDepthwise || read.spec.groups > 1 || read.spec.window.IsDilated() ||
                  HasLowest(filter);
  return read;
}

TensorShape Int8Conv2dOp::Shape(std::span<const TensorShape> inputs) const {
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
