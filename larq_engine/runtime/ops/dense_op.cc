#include "larq_engine/runtime/ops/dense_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

bool DenseOp::CanClaim(const OpInfo& op) {
  return HasFloatWeights(op) && op.inputs[1].dims.size() == 2 &&
         op.host_options.activation.has_value() && IsBias(op, op.inputs[1].dims[0]);
}

DenseOp DenseOp::Read(const OpInfo& op) {
  const TensorInfo& weights = op.inputs[1];
  return {.depth = weights.dims[1],
          .units = weights.dims[0],
          .keeps_dims = op.host_options.keep_dims,
          .activation = *op.host_options.activation,
          .weights = ConstantValues<float>(weights.constant, weights.bytes),
          .bias = ReadBias(op, weights.dims[0])};
}

TensorShape DenseOp::Shape(std::span<const TensorShape> inputs) const {
  std::vector<int> dims = inputs[0].dims;
  const int64_t values = CountElements(dims, dims.size());
  if (dims.empty() || (keeps_dims ? dims.back() != depth : values % depth != 0)) {
    throw OpError("input: expected rows of " + std::to_string(depth) +
                  " values, as the weights have, got shape " + DimsString(dims) +
                  "; resize the input to what the model takes");
  }
  if (keeps_dims) {
    dims.back() = units;
  } else {
    dims = {CheckedSize(values / depth), units};
  }
  CountElements(dims, dims.size());
  return {.dims = dims};
}

}  // namespace larq_engine
