#include "larq_engine/runtime/ops/floats_to_bytes_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {

bool FloatsToBytesOp::CanClaim(const OpInfo& op) {
  return op.inputs.size() == 1 && IsFloatData(op.inputs[0]) && IsQuantized(op.output);
}

FloatsToBytesOp FloatsToBytesOp::Read(const OpInfo& op) {
  const int32_t zero_point = ZeroPointOf(op.output);
  const FloatRange bytes = ByteRange(op.output.type);
  return {.steps = 1 / op.output.scales[0],
          .range = {bytes.min - static_cast<float>(zero_point),
                    bytes.max - static_cast<float>(zero_point)},
          .zero_point = zero_point};
}

TensorShape FloatsToBytesOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
