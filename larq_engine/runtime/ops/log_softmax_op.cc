#include "larq_engine/runtime/ops/log_softmax_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {

bool LogSoftmaxOp::CanClaim(const OpInfo& op) {
  return op.inputs.size() == 1 && ValueTypeOf(op.inputs[0]) == ValueType::kFloat32 &&
         ValueTypeOf(op.output) == ValueType::kFloat32;
}

TensorShape LogSoftmaxOp::Shape(std::span<const TensorShape> inputs) const {
  CheckHasChannels(inputs[0].dims);
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
