#include "larq_engine/runtime/ops/int8_binary_op.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {
namespace {

// The ranges of the ratios of scales that the host's XNNPACK takes: of an operand of a sum to the
// output, and of a product to the output.
constexpr float kSmallestSumRatio = 0x1p-10f;
constexpr float kSmallestProductRatio = 0x1p-16f;
constexpr float kLargestBinaryRatio = 256;

bool IsWithin(float ratio, float smallest) {
  return ratio >= smallest && ratio < kLargestBinaryRatio;
}

float SumRatio(const OpInfo& op, size_t operand) {
  return op.inputs[operand].scales[0] / op.output.scales[0];
}

float ProductRatio(const OpInfo& op) {
  return op.inputs[0].scales[0] * op.inputs[1].scales[0] / op.output.scales[0];
}

// The larger operand's parts have 21 bits.
Int8BinaryOp::Parts MakeParts(float a, float b) {
  constexpr int kBits = 21;
  int exponent = 0;
  std::frexp(std::max(a, b), &exponent);
  const int shift = kBits - exponent;
  const auto parts = [&](float ratio) {
    return static_cast<int32_t>(std::lrint(std::ldexp(ratio, shift)));
  };
  return {.of_step = {parts(a), parts(b)}, .shift = shift};
}

bool IsOperand(const TensorInfo& tensor) {
  return IsQuantized(tensor, ElementType::kInt8) &&
         (tensor.constant == nullptr ||
          tensor.bytes == static_cast<size_t>(CountElements(tensor.dims, tensor.dims.size())));
}

}  // namespace

bool Int8BinaryOp::CanClaim(const OpInfo& op, Kind kind) {
  if (op.inputs.size() != 2 || !std::all_of(op.inputs.begin(), op.inputs.end(), IsOperand) ||
      (op.inputs[0].constant != nullptr && op.inputs[1].constant != nullptr) ||
      !IsQuantized(op.output, ElementType::kInt8) || !op.builtin_options.activation.has_value()) {
    return false;
  }
  if (kind == kMultiply) return IsWithin(ProductRatio(op), kSmallestProductRatio);
  return IsWithin(SumRatio(op, 0), kSmallestSumRatio) &&
         IsWithin(SumRatio(op, 1), kSmallestSumRatio);
}

Int8BinaryOp Int8BinaryOp::Read(const OpInfo& op, Kind kind) {
  Int8BinaryOp read{.kind = kind,
                    .zero_points = {ZeroPointOf(op.inputs[0]), ZeroPointOf(op.inputs[1])},
                    .range = Int8Range(*op.builtin_options.activation, op.output),
                    .zero_point = ZeroPointOf(op.output)};
  if (kind == kMultiply) {
    read.multiplier = ProductRatio(op);
  } else {
    read.parts = MakeParts(SumRatio(op, 0), SumRatio(op, 1));
    if (kind == kSubtract) read.parts.of_step[1] = -read.parts.of_step[1];
  }
  for (size_t i : {0, 1}) {
    const TensorInfo& operand = op.inputs[i];
    if (operand.constant == nullptr) {
      read.data_inputs.push_back(i);
    } else {
      read.constant = ConstantValues<int8_t>(operand.constant, operand.bytes);
      read.constant_dims = operand.dims;
    }
  }
  return read;
}

std::array<std::vector<int>, 2> Int8BinaryOp::OperandDims(
    std::span<const TensorShape> inputs) const {
  std::array<std::vector<int>, 2> dims = {constant_dims, constant_dims};
  for (size_t i = 0; i < data_inputs.size(); ++i) dims[data_inputs[i]] = inputs[i].dims;
  return dims;
}

TensorShape Int8BinaryOp::Shape(std::span<const TensorShape> inputs) const {
  const auto [a, b] = OperandDims(inputs);
  TensorShape shape{.dims = BroadcastShape(a, b)};
  CountElements(shape.dims, shape.dims.size());
  return shape;
}

}  // namespace larq_engine
