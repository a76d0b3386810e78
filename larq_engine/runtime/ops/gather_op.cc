#include "larq_engine/runtime/ops/gather_op.h"

#include <algorithm>
#include <optional>
#include <string>

#include "larq_engine/runtime/ops/axes.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {
namespace {

using Rows = GatherOp::Rows;

[[noreturn]] void Refuse(const std::string& expected, const std::vector<int>& data,
                         const std::vector<int>& indices) {
  throw OpError("inputs: expected " + expected + ", got shapes " + DimsString(data) + " and " +
                DimsString(indices) + "; resize the model's inputs to shapes that fit");
}

std::vector<int> Part(const std::vector<int>& dims, size_t first, size_t last) {
  return {dims.begin() + static_cast<ptrdiff_t>(first),
          dims.begin() + static_cast<ptrdiff_t>(last)};
}

int64_t CountPart(const std::vector<int>& dims, size_t first, size_t last) {
  return CountElements(Part(dims, first, last), last - first);
}

void Append(const std::vector<int>& part, std::vector<int>& shape) {
  shape.insert(shape.end(), part.begin(), part.end());
}

Rows AlongAxis(const GatherOp& op, const std::vector<int>& data, const std::vector<int>& indices) {
  const std::optional<size_t> axis = AxisFromFront(op.axis, data.size());
  const auto batch_dims = static_cast<size_t>(op.batch_dims);
  if (!axis || *axis < batch_dims || indices.size() < batch_dims ||
      Part(data, 0, batch_dims) != Part(indices, 0, batch_dims)) {
    Refuse("an axis " + std::to_string(op.axis) + " behind " + std::to_string(batch_dims) +
               " dimensions that are equal",
           data, indices);
  }
  Rows rows{.shape = Part(data, 0, *axis),
            .elements = CountPart(data, *axis + 1, data.size()),
            .sizes = {data[*axis]},
            .repeats = CountPart(data, batch_dims, *axis),
            .indices_of_batch = CountPart(indices, batch_dims, indices.size())};
  Append(Part(indices, batch_dims, indices.size()), rows.shape);
  Append(Part(data, *axis + 1, data.size()), rows.shape);
  return rows;
}

Rows ByTuples(const std::vector<int>& data, const std::vector<int>& indices) {
  const bool are_tuples = !indices.empty() && static_cast<size_t>(indices.back()) <= data.size();
  if (!are_tuples) Refuse("indices of at most as many dimensions as there are", data, indices);
  const auto dims = static_cast<size_t>(indices.back());
  Rows rows{.shape = Part(indices, 0, indices.size() - 1),
            .elements = CountPart(data, dims, data.size()),
            .sizes = Part(data, 0, dims),
            .indices_of_batch = CountPart(indices, 0, indices.size() - 1)};
  Append(Part(data, dims, data.size()), rows.shape);
  return rows;
}

// Tells whether elements of the tensor can be moved; a constant has its size.
bool IsData(const TensorInfo& tensor) {
  const size_t element = ElementBytes(tensor.type);
  if (!tensor.present || element == 0) return false;
  return tensor.constant == nullptr ||
         tensor.bytes ==
             static_cast<size_t>(CountElements(tensor.dims, tensor.dims.size())) * element;
}

}  // namespace

bool GatherOp::CanClaim(const OpInfo& op, Form form) {
  if (op.inputs.size() != 2 || !IsData(op.inputs[0]) || op.output.type != op.inputs[0].type) {
    return false;
  }
  const std::optional<ValueType> type = ValueTypeOf(op.inputs[1]);
  if (type != ValueType::kInt32 && type != ValueType::kInt64) return false;
  if (form == kGatherNd) return true;
  const FileOptions& options = op.builtin_options.file;
  const std::optional<size_t> axis = AxisFromFront(options.axis, op.inputs[0].dims.size());
  return axis && options.batch_dims >= 0 && *axis >= static_cast<size_t>(options.batch_dims);
}

GatherOp GatherOp::Read(const OpInfo& op, Form form) {
  return {.form = form,
          .element_bytes = ElementBytes(op.output.type),
          .has_long_indices = op.inputs[1].type == ElementType::kInt64,
          .axis = op.builtin_options.file.axis,
          .batch_dims = op.builtin_options.file.batch_dims};
}

Rows GatherOp::Of(const std::vector<int>& data, const std::vector<int>& indices) const {
  CountElements(data, data.size());
  CountElements(indices, indices.size());
  return form == kGather ? AlongAxis(*this, data, indices) : ByTuples(data, indices);
}

TensorShape GatherOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(Of(inputs[0].dims, inputs[1].dims).shape);
}

}  // namespace larq_engine
