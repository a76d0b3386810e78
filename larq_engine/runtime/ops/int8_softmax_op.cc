#include "larq_engine/runtime/ops/int8_softmax_op.h"

#include <cmath>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {

bool Int8SoftmaxOp::CanClaim(const OpInfo& op) {
  return op.inputs.size() == 1 && IsQuantized(op.inputs[0], ElementType::kInt8) &&
         op.inputs[0].constant == nullptr && !op.inputs[0].dims.empty() &&
         HasFixedScale(op.output, 0x1p-8f, -128);
}

Int8SoftmaxOp Int8SoftmaxOp::Read(const OpInfo& op) {
  const float step = -op.inputs[0].scales[0] * op.builtin_options.file.beta;
  Int8SoftmaxOp read;
  for (size_t i = 0; i < read.exponentials.size(); ++i) {
    read.exponentials[i] = std::exp(step * static_cast<float>(i));
  }
  return read;
}

TensorShape Int8SoftmaxOp::Shape(std::span<const TensorShape> inputs) const {
  CheckHasChannels(inputs[0].dims);
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
