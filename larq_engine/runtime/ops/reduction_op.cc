#include "larq_engine/runtime/ops/reduction_op.h"

#include <string>

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
  const auto rank = static_cast<int>(dims.size());
  std::vector<bool> reduced(dims.size());
  for (const int axis : axes) {
    if (axis < -rank || axis >= rank) {
      throw OpError("input: expected an axis " + std::to_string(axis) + ", got shape " +
                    DimsString(dims) + "; resize the input to what the model takes");
    }
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  return reduced;
}

TensorShape ReductionOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CountElements(dims, dims.size());
  const std::vector<bool> reduced = Reduced(dims);
  TensorShape shape{.dims = {}};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!reduced[i]) shape.dims.push_back(dims[i]);
    if (reduced[i] && keeps_dims) shape.dims.push_back(1);
  }
  CountElements(shape.dims, shape.dims.size());
  return shape;
}

}  // namespace larq_engine
