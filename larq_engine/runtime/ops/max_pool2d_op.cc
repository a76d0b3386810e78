#include "larq_engine/runtime/ops/max_pool2d_op.h"

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {
namespace {

constexpr std::string_view kMaxPoolKeys[] = {"filter_height", "filter_width", "padding",
                                             "stride_height", "stride_width"};

}  // namespace

MaxPool2dOp MaxPool2dOp::ReadOfBits(const OpInfo& op) {
  CheckInputCount(op, 1);
  CheckType(op.inputs[0], "input", {ElementType::kInt32});
  CheckType(op.output, "output", {ElementType::kInt32});
  const CustomOptions options(op.options, kMaxPoolKeys);
  const AxisPadding padding{.same = options.IsSame()};
  return {.of_bits = true,
          .window = {.height = {.taps = options.Get("filter_height", 1, kMaxInt),
                                .stride = options.Get("stride_height", 1, kMaxInt),
                                .padding = padding},
                     .width = {.taps = options.Get("filter_width", 1, kMaxInt),
                               .stride = options.Get("stride_width", 1, kMaxInt),
                               .padding = padding}}};
}

bool MaxPool2dOp::CanClaimOfFloats(const OpInfo& op) {
  const std::optional<Window2d>& window = op.builtin_options.window;
  return op.inputs.size() == 1 && IsFloatData(op.inputs[0]) && IsFloat(op.output) &&
         op.inputs[0].dims.size() == 4 && op.builtin_options.activation.has_value() &&
         window.has_value() && IsLegal(*window);
}

MaxPool2dOp MaxPool2dOp::ReadOfFloats(const OpInfo& op) {
  return {.of_bits = false,
          .window = *op.builtin_options.window,
          .activation = *op.builtin_options.activation};
}

TensorShape MaxPool2dOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  if (of_bits) CheckBits(inputs[0], 1);
  return {.dims = OutputDims(window, dims, dims[3]), .channels = inputs[0].channels};
}

}  // namespace larq_engine
