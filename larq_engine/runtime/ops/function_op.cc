#include "larq_engine/runtime/ops/function_op.h"

#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {

std::optional<ValueType> ValueTypeOf(const TensorInfo& tensor) {
  if (!tensor.present) return std::nullopt;
  switch (tensor.type) {
    case ElementType::kFloat32:
      return ValueType::kFloat32;
    case ElementType::kInt32:
      return ValueType::kInt32;
    case ElementType::kInt64:
      return ValueType::kInt64;
    case ElementType::kBool:
      return ValueType::kBool;
    case ElementType::kInt8:
      return ValueType::kInt8;
    case ElementType::kUint8:
      return ValueType::kUint8;
    default:
      return std::nullopt;
  }
}

bool FunctionOp::CanClaim(const OpInfo& op, ValueFunction function) {
  if (op.inputs.size() != 1) return false;
  const std::optional<ValueType> type = ValueTypeOf(op.inputs[0]);
  return type && ValueTypeOf(op.output) == type && IsOn(function, *type);
}

FunctionOp FunctionOp::Read(const OpInfo& op, ValueFunction function) {
  const bool is_by_tanh = function == ValueFunction::kGelu && op.builtin_options.approximate;
  return {.function = is_by_tanh ? ValueFunction::kGeluByTanh : function,
          .type = ValueTypeOf(op.inputs[0]).value(),
          .alpha = op.builtin_options.alpha};
}

TensorShape FunctionOp::Shape(std::span<const TensorShape> inputs) const {
  return AsInput(inputs[0]);
}

}  // namespace larq_engine
