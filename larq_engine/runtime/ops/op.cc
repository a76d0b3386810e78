#include "larq_engine/runtime/ops/op.h"

#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

std::vector<size_t> DataInputs(const Op& op) {
  return std::visit(
      [](const auto& value) -> std::vector<size_t> {
        if constexpr (requires { value.DataInputs(); }) return value.DataInputs();
        return {0};
      },
      op);
}

TensorShape OutputShape(const Op& op, std::span<const TensorShape> inputs) {
  return std::visit([&](const auto& value) { return value.Shape(inputs); }, op);
}

int64_t Macs(const Op& op, const TensorShape& output) {
  const auto* conv = std::get_if<Bconv2dOp>(&op);
  return conv == nullptr ? 0 : conv->Macs(output);
}

int64_t FloatMacs(const Op& op, const TensorShape& output) {
  const int64_t values = CountElements(output.dims, output.dims.size());
  if (const auto* conv = std::get_if<Conv2dOp>(&op)) return values * conv->spec.depth();
  if (const auto* dense = std::get_if<DenseOp>(&op)) return values * dense->depth;
  return 0;
}

}  // namespace larq_engine
