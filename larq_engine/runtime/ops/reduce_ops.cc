#include "larq_engine/runtime/ops/reduce_ops.h"

#include <algorithm>
#include <optional>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {
namespace {

struct Range {
  size_t first;
  size_t last;
};

// Returns nothing unless the axes are consecutive dimensions that end before the last one.
std::optional<Range> FindRun(const TensorInfo& axes, size_t rank) {
  std::vector<int> numbers = ReadInts(axes);
  for (int& axis : numbers) axis += axis < 0 ? static_cast<int>(rank) : 0;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty() || numbers.front() < 0 || numbers.back() >= static_cast<int>(rank) - 1) {
    return std::nullopt;
  }
  const Range range{static_cast<size_t>(numbers.front()), static_cast<size_t>(numbers.back()) + 1};
  if (range.last - range.first != numbers.size()) return std::nullopt;
  return range;
}

}  // namespace

bool AveragePool2dOp::CanClaim(const OpInfo& op) {
  const std::optional<Window2d>& window = op.builtin_options.window;
  return IsOpOfFloatData(op, 1) && op.inputs[0].dims.size() == 4 &&
         op.builtin_options.activation.has_value() && window.has_value() && IsLegal(*window) &&
         ReachesLittle(*window);
}

AveragePool2dOp AveragePool2dOp::Read(const OpInfo& op) {
  return {.window = *op.builtin_options.window, .activation = *op.builtin_options.activation};
}

TensorShape AveragePool2dOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  return {.dims = OutputDims(window, dims, dims[3])};
}

bool MeanOp::CanClaim(const OpInfo& op) {
  return IsOpOfFloatData(op, 2) && FindRun(op.inputs[1], op.inputs[0].dims.size()).has_value();
}

MeanOp MeanOp::Read(const OpInfo& op) {
  const Range range = *FindRun(op.inputs[1], op.inputs[0].dims.size());
  return {
      .first = range.first, .last = range.last, .keeps_dims = op.builtin_options.file.keep_dims};
}

TensorShape MeanOp::Shape(std::span<const TensorShape> inputs) const {
  std::vector<int> dims = inputs[0].dims;
  CountElements(dims, dims.size());
  if (dims.size() <= last) {
    throw OpError("input: expected more than " + std::to_string(last) + " dimensions, got shape " +
                  DimsString(dims) + "; resize the input to what the model takes");
  }
  const auto begin = dims.begin() + static_cast<ptrdiff_t>(first);
  const auto end = dims.begin() + static_cast<ptrdiff_t>(last);
  if (keeps_dims) {
    std::fill(begin, end, 1);
  } else {
    dims.erase(begin, end);
  }
  CountElements(dims, dims.size());
  return {.dims = dims};
}

std::vector<int> MeanOp::ImageDims(const std::vector<int>& input) const {
  const auto product = [&](size_t begin, size_t end) {
    int64_t result = 1;
    for (size_t i = begin; i < end; ++i) result *= input[i];
    return CheckedSize(result);
  };
  return {product(0, first), product(first, last), product(last, input.size() - 1), input.back()};
}

Window2d MeanOp::Window(const std::vector<int>& image) { return {.height = {.taps = image[1]}}; }

bool SoftmaxOp::CanClaim(const OpInfo& op) { return IsOpOfFloatData(op, 1); }

SoftmaxOp SoftmaxOp::Read(const OpInfo& op) { return {.beta = op.builtin_options.file.beta}; }

TensorShape SoftmaxOp::Shape(std::span<const TensorShape> inputs) const {
  CheckHasChannels(inputs[0].dims);
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
