#include "larq_engine/runtime/ops/reduction_op.h"

#include <optional>
#include <string>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

bool ReductionOp::CanClaim(const OpInfo& op, Kind kind) {
  if (op.inputs.size() != 2 || !op.inputs[0].present || op.inputs[0].constant != nullptr ||
      op.inputs[0].type != op.output.type) {
    return false;
  }
  // A mean of whole numbers would have to be rounded.
  const bool is_number = op.output.type == ElementType::kFloat32 ||
                         (op.output.type == ElementType::kInt32 && kind != kMean);
  const TensorInfo& axes = op.inputs[1];
  return is_number && axes.present && axes.constant != nullptr && axes.type == ElementType::kInt32;
}

ReductionOp ReductionOp::Read(const OpInfo& op, Kind kind) {
  return {.kind = kind,
          .is_float = op.output.type == ElementType::kFloat32,
          .axes = ReadInts(op.inputs[1]),
          .keeps_dims = op.builtin_options.file.keep_dims};
}

std::vector<bool> ReductionOp::Reduced(const std::vector<int>& dims) const {
  std::vector<bool> reduced(dims.size());
  for (const int axis : axes) {
    const std::optional<size_t> found = AxisFromFront(axis, dims.size());
    if (!found) {
      throw OpError("input: expected an axis " + std::to_string(axis) + ", got shape " +
                    DimsString(dims) + "; resize the input to what the model takes");
    }
    reduced[*found] = true;
  }
  return reduced;
}

TensorShape ReductionOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CountElements(dims, dims.size());
  return CheckedShape(ReducedDims(dims, Reduced(dims), keeps_dims));
}

}  // namespace larq_engine
