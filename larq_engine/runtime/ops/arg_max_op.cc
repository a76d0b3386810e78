#include "larq_engine/runtime/ops/arg_max_op.h"

#include <cstring>
#include <optional>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {
namespace {

std::optional<int64_t> ReadAxis(const TensorInfo& tensor) {
  if (tensor.type == ElementType::kInt64 && tensor.constant != nullptr &&
      tensor.bytes == sizeof(int64_t)) {
    int64_t axis;
    std::memcpy(&axis, tensor.constant, sizeof(axis));
    return axis;
  }
  const std::vector<int> values = ReadInts(tensor);
  if (values.size() != 1) return std::nullopt;
  return values[0];
}

}  // namespace

bool ArgMaxOp::CanClaim(const OpInfo& op, Form) {
  if (op.inputs.size() != 2 || !ReadAxis(op.inputs[1])) return false;
  const std::optional<ValueType> type = ValueTypeOf(op.inputs[0]);
  const std::optional<ValueType> index_type = ValueTypeOf(op.output);
  return type && *type != ValueType::kInt64 && *type != ValueType::kBool &&
         (index_type == ValueType::kInt32 || index_type == ValueType::kInt64);
}

ArgMaxOp ArgMaxOp::Read(const OpInfo& op, Form form) {
  return {.form = form,
          .type = ValueTypeOf(op.inputs[0]).value(),
          .index_type = ValueTypeOf(op.output).value(),
          .axis = ReadAxis(op.inputs[1]).value()};
}

size_t ArgMaxOp::AxisOf(const std::vector<int>& dims) const {
  const std::optional<size_t> found = AxisFromFront(axis, dims.size());
  if (!found || dims[*found] == 0) {
    throw OpError("input: expected a shape with values along axis " + std::to_string(axis) +
                  ", got " + DimsString(dims) + "; resize the input to what the model takes");
  }
  return *found;
}

TensorShape ArgMaxOp::Shape(std::span<const TensorShape> inputs) const {
  TensorShape shape = CheckedShape(inputs[0].dims);
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(AxisOf(shape.dims)));
  return shape;
}

}  // namespace larq_engine
