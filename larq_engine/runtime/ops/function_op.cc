#include "larq_engine/runtime/ops/function_op.h"

#include <optional>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {

bool FunctionOp::CanClaim(const OpInfo& op, ValueFunction function) {
  if (op.inputs.size() != 1) return false;
  const std::optional<ValueType> type = ValueTypeOf(op.inputs[0]);
  return type && ValueTypeOf(op.output) == type && IsOn(function, *type);
}

FunctionOp FunctionOp::Read(const OpInfo& op, ValueFunction function) {
  const bool is_by_tanh = function == ValueFunction::kGelu && op.builtin_options.file.approximate;
  return {.function = is_by_tanh ? ValueFunction::kGeluByTanh : function,
          .type = ValueTypeOf(op.inputs[0]).value(),
          .alpha = op.builtin_options.file.alpha};
}

TensorShape FunctionOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
