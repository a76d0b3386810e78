#include "larq_engine/runtime/ops/join_op.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Bytes whose scales differ would have to be computed anew.
bool IsQuantizedAlike(const TensorInfo& a, const TensorInfo& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points;
}

}  // namespace

bool JoinOp::CanClaim(const OpInfo& op, bool adds_axis) {
  if (op.inputs.empty() || op.inputs.size() > kMaxDataInputs || !op.output.present ||
      ElementBytes(op.output.type) == 0 || op.builtin_options.activation != Activation::kNone) {
    return false;
  }
  if (adds_axis && static_cast<size_t>(op.builtin_options.file.parts) != op.inputs.size()) {
    return false;
  }
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const TensorInfo& input) {
    return input.present && input.type == op.output.type &&
           input.dims.size() == op.inputs[0].dims.size() && IsQuantizedAlike(input, op.output);
  });
}

JoinOp JoinOp::Read(const OpInfo& op, bool adds_axis) {
  return {.inputs = op.inputs.size(),
          .element_bytes = ElementBytes(op.output.type),
          .axis = op.builtin_options.file.axis,
          .adds_axis = adds_axis};
}

std::vector<size_t> JoinOp::DataInputs() const {
  std::vector<size_t> all(inputs);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

size_t JoinOp::AxisOf(size_t rank) const {
  const std::optional<size_t> found = AxisFromFront(axis, rank);
  if (!found) {
    throw OpError("expected an axis of " + std::to_string(rank) + " dimensions, got " +
                  std::to_string(axis) + "; the file is corrupted");
  }
  return *found;
}

TensorShape JoinOp::Shape(std::span<const TensorShape> shapes) const {
  std::vector<int> dims = shapes[0].dims;
  const size_t rank = dims.size() + (adds_axis ? 1 : 0);
  const size_t at = AxisOf(rank);
  int64_t size = 0;
  for (const TensorShape& shape : shapes) {
    CountElements(shape.dims, shape.dims.size());
    std::vector<int> others = shape.dims;
    if (!adds_axis && others.size() == dims.size()) others[at] = dims[at];
    if (others != dims) {
      throw OpError("inputs: expected shapes that can be joined along axis " + std::to_string(at) +
                    ", got " + DimsString(dims) + " and " + DimsString(shape.dims) +
                    "; resize all inputs of the model alike");
    }
    size += adds_axis ? 1 : shape.dims[at];
  }
  if (adds_axis) dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), 0);
  dims[at] = CheckedSize(size);
  CountElements(dims, dims.size());
  return {.dims = dims};
}

}  // namespace larq_engine
