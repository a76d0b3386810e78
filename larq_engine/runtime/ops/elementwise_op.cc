#include "larq_engine/runtime/ops/elementwise_op.h"

#include <algorithm>
#include <cstring>

#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Returns the values of a constant that is one value or a vector along the last dimension; empty
// for other tensors.
std::vector<float> ReadChannelConstant(const TensorInfo& tensor) {
  if (!tensor.present || tensor.type != ElementType::kFloat32 || tensor.constant == nullptr)
    return {};
  const std::vector<int>& dims = tensor.dims;
  const int values = Channels(dims);
  const bool is_vector = std::all_of(dims.begin(), dims.empty() ? dims.end() : dims.end() - 1,
                                     [](int dim) { return dim == 1; });
  if (!is_vector || values < 1 || tensor.bytes != static_cast<uint64_t>(values) * sizeof(float)) {
    return {};
  }
  std::vector<float> constant(static_cast<size_t>(values));
  std::memcpy(constant.data(), tensor.constant, tensor.bytes);
  return constant;
}

// Tells whether a constant is one value, or one for each of the tensor's channels. A constant with
// more dimensions than the tensor would add dimensions to the result.
bool IsChannelConstant(const TensorInfo& constant, const TensorInfo& data) {
  if (constant.dims.size() > data.dims.size()) return false;
  const size_t values = ReadChannelConstant(constant).size();
  return values == 1 || (values > 1 && values == static_cast<size_t>(data.dims.back()));
}

}  // namespace

bool BinaryOp::CanClaim(const OpInfo& op) {
  if (!IsFloatOp(op, 2) || !op.builtin_options.activation.has_value()) return false;
  const TensorInfo& a = op.inputs[0];
  const TensorInfo& b = op.inputs[1];
  if (IsFloatData(a)) return IsFloatData(b) || IsChannelConstant(b, a);
  return IsFloatData(b) && IsChannelConstant(a, b);
}

BinaryOp BinaryOp::Read(const OpInfo& op, ChannelOp::Kind kind) {
  BinaryOp read{.kind = kind, .activation = *op.builtin_options.activation, .data_inputs = {}};
  for (size_t input : {0, 1}) {
    if (op.inputs[input].constant == nullptr) {
      read.data_inputs.push_back(input);
    } else {
      read.constant = ReadChannelConstant(op.inputs[input]);
    }
  }
  return read;
}

bool BinaryOp::CanClaimDifference(const OpInfo& op) {
  return CanClaim(op) && !IsFloatData(op.inputs[1]);
}

BinaryOp BinaryOp::ReadDifference(const OpInfo& op) {
  BinaryOp read = Read(op, ChannelOp::kAdd);
  for (float& value : read.constant) value = -value;
  return read;
}

bool BinaryOp::IsAlike(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  if (inputs.size() > 1) return dims == inputs[1].dims;
  return constant.size() == 1 || constant.size() == static_cast<size_t>(Channels(dims));
}

std::vector<std::vector<int>> BinaryOp::OperandDims(std::span<const TensorShape> inputs) const {
  if (data_inputs.size() > 1) return {inputs[0].dims, inputs[1].dims};
  // A single value is repeated for each of the input's channels.
  const int values =
      constant.size() == 1 ? Channels(inputs[0].dims) : static_cast<int>(constant.size());
  std::vector<std::vector<int>> operands = {inputs[0].dims, {values}};
  if (data_inputs[0] == 1) std::swap(operands[0], operands[1]);
  return operands;
}

TensorShape BinaryOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<std::vector<int>> operands = OperandDims(inputs);
  TensorShape shape{.dims = BroadcastShape(operands[0], operands[1])};
  CountElements(shape.dims, shape.dims.size());
  return shape;
}

bool ClampOp::CanClaim(const OpInfo& op) { return IsOpOfFloatData(op, 1); }

ClampOp ClampOp::Read(const OpInfo&, Activation activation) { return {.activation = activation}; }

TensorShape ClampOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

bool UnaryOp::CanClaim(const OpInfo& op) { return IsOpOfFloatData(op, 1); }

bool UnaryOp::IsHostsOnCpu(const OpInfo& op) { return op.inputs[0].dims.size() > 2; }

UnaryOp UnaryOp::Read(const OpInfo&, Function function) { return {.function = function}; }

TensorShape UnaryOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

bool PreluOp::CanClaim(const OpInfo& op) {
  return IsOpOfFloatData(op, 2) && IsChannelConstant(op.inputs[1], op.inputs[0]);
}

PreluOp PreluOp::Read(const OpInfo& op) { return {.slopes = ReadChannelConstant(op.inputs[1])}; }

TensorShape PreluOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  if (slopes.size() != 1 && slopes.size() != static_cast<size_t>(Channels(dims))) {
    throw OpError("input: expected " + std::to_string(slopes.size()) +
                  " channels, one for each slope, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
