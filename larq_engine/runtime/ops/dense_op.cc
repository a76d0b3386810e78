#include "larq_engine/runtime/ops/dense_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

bool DenseOp::IsHostsOnCpu(const OpInfo& op) {
  return CountElements(op.inputs[1].dims, op.inputs[1].dims.size()) > kFewWeights;
}

bool DenseOp::CanClaim(const OpInfo& op) {
  return HasFloatWeights(op) && op.inputs[1].dims.size() == 2 &&
         op.builtin_options.activation.has_value() && IsBias(op, op.inputs[1].dims[0]);
}

DenseOp DenseOp::Read(const OpInfo& op) {
  const TensorInfo& weights = op.inputs[1];
  DenseOp read;
  read.depth = weights.dims[1];
  read.units = weights.dims[0];
  read.keeps_dims = op.builtin_options.file.keep_dims;
  read.activation = *op.builtin_options.activation;
  read.weights = ConstantValues<float>(weights.constant, weights.bytes);
  read.bias = ReadBias(op, weights.dims[0]);
  return read;
}

TensorShape DenseShape::Output(const TensorShape& input) const {
  std::vector<int> dims = input.dims;
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
