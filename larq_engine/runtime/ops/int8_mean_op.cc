#include "larq_engine/runtime/ops/int8_mean_op.h"

#include <algorithm>
#include <optional>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {
namespace {

// Returns which dimensions the axes name; none if an axis is not a dimension.
std::vector<bool> ReadAxes(const TensorInfo& axes, size_t rank) {
  std::vector<bool> is_axis(rank);
  for (int axis : ReadInts(axes)) {
    const std::optional<size_t> found = AxisFromFront(axis, rank);
    if (!found) return {};
    is_axis[*found] = true;
  }
  return is_axis;
}

}  // namespace

bool Int8MeanOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() != 2 || !IsQuantized(op.inputs[0], ElementType::kInt8) ||
      op.inputs[0].constant != nullptr || !IsQuantized(op.output, ElementType::kInt8)) {
    return false;
  }
  const std::vector<bool> is_axis = ReadAxes(op.inputs[1], op.inputs[0].dims.size());
  return std::find(is_axis.begin(), is_axis.end(), true) != is_axis.end();
}

Int8MeanOp Int8MeanOp::Read(const OpInfo& op) {
  const TensorInfo& input = op.inputs[0];
  return {.is_mean = ReadAxes(op.inputs[1], input.dims.size()),
          .keeps_dims = op.builtin_options.file.keep_dims,
          .ratio = input.scales[0] / op.output.scales[0],
          .in_zero_point = ZeroPointOf(input),
          .zero_point = ZeroPointOf(op.output)};
}

TensorShape Int8MeanOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", is_mean.size());
  CountElements(dims, dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_mean[i] && dims[i] == 0) {
      throw OpError("input: expected values to take the mean of, got shape " + DimsString(dims) +
                    "; resize the input to what the model takes");
    }
  }
  return {.dims = ReducedDims(dims, is_mean, keeps_dims)};
}

}  // namespace larq_engine
