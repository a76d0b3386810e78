#include "larq_engine/runtime/ops/select_op.h"

#include <optional>

#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {

bool SelectOp::CanClaim(const OpInfo& op, Form) {
  if (op.inputs.size() != 3 || ValueTypeOf(op.inputs[0]) != ValueType::kBool) return false;
  const std::optional<ValueType> type = ValueTypeOf(op.output);
  return type && ValueTypeOf(op.inputs[1]) == type && ValueTypeOf(op.inputs[2]) == type;
}

SelectOp SelectOp::Read(const OpInfo& op, Form form) {
  return {.form = form, .value_bytes = ElementBytes(op.output.type)};
}

std::vector<std::vector<int>> SelectOp::OperandDims(std::span<const TensorShape> inputs) const {
  std::vector<std::vector<int>> operands;
  for (const TensorShape& input : inputs) operands.push_back(input.dims);
  std::vector<int>& condition = operands[0];
  if (form == kSelect && condition.size() == 1 && condition[0] != 1 && !operands[1].empty()) {
    condition.resize(operands[1].size(), 1);
  }
  return operands;
}

TensorShape SelectOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<std::vector<int>> operands = OperandDims(inputs);
  const std::vector<int> values = BroadcastShape(operands[1], operands[2]);
  const std::vector<int> dims = BroadcastShape(operands[0], values);
  if (form == kSelect && (operands[1] != operands[2] || dims != operands[1])) {
    throw OpError("inputs: expected two tensors of one shape and a condition that fits it, got " +
                  DimsString(inputs[1].dims) + ", " + DimsString(inputs[2].dims) + " and " +
                  DimsString(inputs[0].dims) + "; resize the model's inputs to shapes that fit");
  }
  return CheckedShape(dims);
}

}  // namespace larq_engine
