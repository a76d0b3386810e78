#include "larq_engine/runtime/ops/concatenation_op.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

bool ConcatenationOp::CanClaim(const OpInfo& op) {
  const int rank = static_cast<int>(op.output.dims.size());
  // Vectors of integers are shapes, which the host needs before a run.
  const bool may_be_bits = op.output.type == ElementType::kInt32 && rank > 1;
  if ((!IsFloat(op.output) && !may_be_bits) || op.inputs.size() < 2 ||
      op.inputs.size() > kMaxHostsInputs) {
    return false;
  }
  const int axis = op.builtin_options.file.axis;
  if ((axis != -1 && axis != rank - 1) || op.builtin_options.activation != Activation::kNone) {
    return false;
  }
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const TensorInfo& input) {
    return IsMovable(input) && input.type == op.output.type &&
           input.dims.size() == op.output.dims.size();
  });
}

ConcatenationOp ConcatenationOp::Read(const OpInfo& op) { return {.inputs = op.inputs.size()}; }

std::vector<size_t> ConcatenationOp::DataInputs() const {
  std::vector<size_t> all(inputs);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

TensorShape ConcatenationOp::Shape(std::span<const TensorShape> shapes) const {
  std::vector<int> dims = shapes[0].dims;
  if (dims.empty()) {
    throw OpError("inputs: expected at least 1 dimension, got scalars; re-convert the model");
  }
  int64_t size = 0;      // last dimension
  int64_t channels = 0;  // channels of bits that it holds
  bool are_known = true;
  for (const TensorShape& shape : shapes) {
    std::vector<int> expected = shape.dims;
    if (expected.size() == dims.size()) expected.back() = dims.back();
    if (expected != dims) {
      throw OpError("inputs: expected shapes that differ in the last dimension only, got " +
                    DimsString(dims) + " and " + DimsString(shape.dims) +
                    "; resize all inputs of the model alike, or load it with fuse=off");
    }
    CountElements(shape.dims, shape.dims.size());
    size += shape.dims.back();
    // Bits behind a word that is not full are in other places than their channels.
    are_known = are_known && shape.channels > 0 && channels % static_cast<int64_t>(kWordBits) == 0;
    channels += shape.channels;
  }
  if (size > std::numeric_limits<int>::max()) {
    throw OpError("output: expected a number of channels that 32 bits hold, got " +
                  std::to_string(size) + "; the file is corrupted");
  }
  dims.back() = static_cast<int>(size);
  CountElements(dims, dims.size());
  return {.dims = dims, .channels = are_known ? channels : 0};
}

}  // namespace larq_engine
