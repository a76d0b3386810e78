#include "larq_engine/runtime/ops/int8_dense_op.h"

#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {

bool Int8DenseOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() < 2 || op.inputs.size() > 3 || !op.builtin_options.activation.has_value()) {
    return false;
  }
  const TensorInfo& weights = op.inputs[1];
  return weights.present && weights.type == ElementType::kInt8 && weights.constant != nullptr &&
         weights.dims.size() == 2 && weights.dims[0] >= 1 && weights.dims[1] >= 1 &&
         weights.bytes == static_cast<size_t>(CountElements(weights.dims, 2)) &&
         IsInt8Layer(op, weights.dims[0]);
}

Int8DenseOp Int8DenseOp::Read(const OpInfo& op) {
  const TensorInfo& weights = op.inputs[1];
  const int units = weights.dims[0], depth = weights.dims[1];
  return {
      .shape = {.depth = depth, .units = units, .keeps_dims = op.builtin_options.file.keep_dims},
      .conv = {.spec = {.in_channels = depth,
                        .out_channels = units,
                        .zero_point = ZeroPointOf(op.inputs[0])},
               .filter = ConstantValues<int8_t>(weights.constant, weights.bytes),
               .output = ReadInt8Output(op, static_cast<size_t>(units)),
               .is_plain = HasLowest(weights)}};
}

}  // namespace larq_engine
