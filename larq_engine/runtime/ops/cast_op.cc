#include "larq_engine/runtime/ops/cast_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {

bool CastOp::CanClaim(const OpInfo& op) {
  return op.inputs.size() == 1 && ValueTypeOf(op.inputs[0]) && ValueTypeOf(op.output);
}

CastOp CastOp::Read(const OpInfo& op) {
  return {.from = ValueTypeOf(op.inputs[0]).value(), .to = ValueTypeOf(op.output).value()};
}

TensorShape CastOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
