#include "larq_engine/runtime/ops/bmatmul_op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr std::string_view kBmatmulKeys[] = {"depth"};

// The values of bits 0 and 1, of the left side and then of the right side.
using Values = std::array<float, 4>;

Values ReadValues(const TensorInfo& tensor) {
  CheckType(tensor, "values", {ElementType::kFloat32});
  if (tensor.dims != std::vector<int>{2, 2}) {
    throw OpError("values '" + tensor.name + "': expected shape [2, 2], got " +
                  DimsString(tensor.dims) + "; re-convert the model");
  }
  CheckConstant(tensor, "values", sizeof(float));
  Values values;
  std::memcpy(values.data(), tensor.constant, sizeof(values));
  for (const float value : values) {
    if (std::isfinite(value)) continue;
    throw OpError("values '" + tensor.name + "': expected finite numbers, got " +
                  std::to_string(value) + "; the file is corrupted");
  }
  return values;
}

void CheckWords(const TensorShape& side, int64_t depth) {
  CheckBits(side, 1);
  if (side.channels != 0 && side.channels != depth) {
    throw OpError("input: expected a depth of " + std::to_string(depth) + ", got " +
                  std::to_string(side.channels) +
                  "; resize the inputs to the sizes that the model was converted for, or convert "
                  "it for others");
  }
  const size_t words = WordsFor(static_cast<size_t>(depth));
  if (side.dims.back() == static_cast<int>(words)) return;
  throw OpError("input: expected " + std::to_string(words) + " words for a depth of " +
                std::to_string(depth) + ", got shape " + DimsString(side.dims) +
                "; re-convert the model");
}

}  // namespace

BmatmulOp BmatmulOp::Read(const OpInfo& op) {
  CheckInputCount(op, 3);
  CheckType(op.inputs[0], "input", {ElementType::kInt32});
  CheckType(op.inputs[1], "second input", {ElementType::kInt32});
  CheckType(op.output, "output", {ElementType::kFloat32});
  const CustomOptions options(op.options, kBmatmulKeys);
  const int64_t depth = options.Get("depth", 1, kMaxDot);
  const auto [left_plus, left_minus, right_plus, right_minus] = ReadValues(op.inputs[2]);
  const double a = (double{left_plus} - left_minus) / 2, b = (double{left_plus} + left_minus) / 2;
  const double c = (double{right_plus} - right_minus) / 2;
  const double d = (double{right_plus} + right_minus) / 2;
  // Each sum of `depth` values is at most as large as this one, which float32 must hold.
  const double largest =
      (std::abs(a) + std::abs(b)) * (std::abs(c) + std::abs(d)) * static_cast<double>(depth);
  if (largest > std::numeric_limits<float>::max()) {
    throw OpError("values '" + op.inputs[2].name + "': expected numbers whose products add up to " +
                  "numbers of float32, got larger ones for a depth of " + std::to_string(depth) +
                  "; re-convert the model");
  }
  return {.spec = {.depth = depth,
                   .of_dot = static_cast<float>(a * c),
                   .of_left = static_cast<float>(a * d),
                   .of_right = static_cast<float>(b * c),
                   .constant = static_cast<float>(static_cast<double>(depth) * b * d)}};
}

TensorShape BmatmulOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>&left = inputs[0].dims, &right = inputs[1].dims;
  const bool are_alike = left.size() >= 2 && left.size() == right.size() &&
                         std::equal(left.begin(), left.end() - 2, right.begin());
  if (!are_alike) {
    throw OpError("inputs: expected equally many matrices, got shapes " + DimsString(left) +
                  " and " + DimsString(right) + "; give all inputs of the model the same batch");
  }
  for (const TensorShape& side : inputs) CheckWords(side, spec.depth);
  TensorShape output{.dims = left};
  output.dims.back() = right[right.size() - 2];
  CountElements(output.dims, output.dims.size());
  return output;
}

}  // namespace larq_engine
