#include "larq_engine/runtime/ops/transposed_conv2d_op.h"

#include <algorithm>
#include <string>

#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {
namespace {

// The inputs of a TRANSPOSE_CONV.
struct TransposedInput {
  enum : size_t { kSizes, kFilter, kImage, kBias };
};

// Returns the operator with the inputs of a convolution: image, filter, and perhaps a bias.
OpInfo AsConv(const OpInfo& op) {
  OpInfo conv = op;
  conv.inputs = {op.inputs[TransposedInput::kImage], op.inputs[TransposedInput::kFilter]};
  if (op.inputs.size() > TransposedInput::kBias)
    conv.inputs.push_back(op.inputs[TransposedInput::kBias]);
  return conv;
}

// Tells whether the operator has a filter, which `conv` has as well, a legal window, and the size
// of its output.
bool IsTransposedConv(const OpInfo& op, const OpInfo& conv) {
  const std::vector<int>& filter = conv.inputs[1].dims;
  const std::vector<int> sizes = ReadInts(op.inputs[TransposedInput::kSizes]);
  if (filter.size() != 4 || conv.inputs[0].dims.size() != 4 || sizes.size() != 4 ||
      std::any_of(sizes.begin(), sizes.end(), [](int size) { return size < 1; }) ||
      sizes[3] != filter[0] || conv.inputs[0].dims[3] != filter[3] ||
      !op.builtin_options.activation.has_value() || !op.builtin_options.window.has_value()) {
    return false;
  }
  const Window2d window = ConvWindow(conv);
  return IsLegal(window) && ReachesLittle(window);
}

bool HasInputs(const OpInfo& op) { return op.inputs.size() == 3 || op.inputs.size() == 4; }

TransposedConv2dSpec ReadSpec(const OpInfo& op, const OpInfo& conv) {
  const std::vector<int>& filter = conv.inputs[1].dims;
  const std::vector<int> sizes = ReadInts(op.inputs[TransposedInput::kSizes]);
  return {.in_channels = filter[3],
          .out_channels = filter[0],
          .window = ConvWindow(conv),
          .out_height = sizes[1],
          .out_width = sizes[2]};
}

// The batch is the input's, whatever the constant says. A host computes no other batch.
TensorShape OutputOf(const TransposedConv2dSpec& spec, const std::vector<int>& dims) {
  CheckRank(dims, "input", 4);
  CountElements(dims, 4);
  const WindowAxes window = spec.Over();
  if (dims[1] != window.height.out || dims[2] != window.width.out || dims[3] != spec.in_channels) {
    throw OpError("input: expected images of " + std::to_string(window.height.out) + " x " +
                  std::to_string(window.width.out) + " x " + std::to_string(spec.in_channels) +
                  ", of which the output's size is made, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  return CheckedShape({dims[0], static_cast<int>(spec.out_height), static_cast<int>(spec.out_width),
                       static_cast<int>(spec.out_channels)});
}

}  // namespace

bool TransposedConv2dOp::CanClaim(const OpInfo& op) {
  if (!HasInputs(op)) return false;
  const OpInfo conv = AsConv(op);
  return HasFloatWeights(conv) && IsTransposedConv(op, conv) &&
         IsBias(conv, conv.inputs[1].dims[0]);
}

TransposedConv2dOp TransposedConv2dOp::Read(const OpInfo& op) {
  const OpInfo conv = AsConv(op);
  const TransposedConv2dSpec spec = ReadSpec(op, conv);
  return {.spec = spec,
          .activation = *op.builtin_options.activation,
          .filter = ConstantValues<float>(conv.inputs[1].constant, conv.inputs[1].bytes),
          .bias = ReadBias(conv, static_cast<int>(spec.out_channels))};
}

std::vector<size_t> TransposedConv2dOp::DataInputs() const { return {TransposedInput::kImage}; }

TensorShape TransposedConv2dOp::Shape(std::span<const TensorShape> inputs) const {
  return OutputOf(spec, inputs[0].dims);
}

bool Int8TransposedConv2dOp::CanClaim(const OpInfo& op) {
  if (!HasInputs(op)) return false;
  const OpInfo conv = AsConv(op);
  if (!IsInt8Filter(conv.inputs[1]) || !IsTransposedConv(op, conv)) return false;
  // XNNPACK does not take pixels that no tap reaches, and hosts then round otherwise.
  const Window2d window = ConvWindow(conv);
  return window.height.stride <= window.height.taps && window.width.stride <= window.width.taps &&
         IsInt8Layer(conv, conv.inputs[1].dims[0]);
}

Int8TransposedConv2dOp Int8TransposedConv2dOp::Read(const OpInfo& op) {
  const OpInfo conv = AsConv(op);
  const TransposedConv2dSpec spec = ReadSpec(op, conv);
  return {.spec = spec,
          .zero_point = ZeroPointOf(conv.inputs[0]),
          .filter = ConstantValues<int8_t>(conv.inputs[1].constant, conv.inputs[1].bytes),
          .output = ReadInt8Output(conv, static_cast<size_t>(spec.out_channels))};
}

std::vector<size_t> Int8TransposedConv2dOp::DataInputs() const { return {TransposedInput::kImage}; }

TensorShape Int8TransposedConv2dOp::Shape(std::span<const TensorShape> inputs) const {
  return OutputOf(spec, inputs[0].dims);
}

}  // namespace larq_engine
