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
  if (const auto* conv = std::get_if<Bconv2dOp>(&op)) return conv->Macs(output);
  const int64_t values = CountElements(output.dims, output.dims.size());
  if (const auto* conv = std::get_if<Conv2dOp>(&op))
    return CountProducts(values, conv->spec.depth());
  if (const auto* conv = std::get_if<Int8Conv2dOp>(&op))
    return CountProducts(values, conv->spec.depth());
  if (const auto* dense = std::get_if<Int8DenseOp>(&op))
    return CountProducts(values, dense->shape.depth);
  if (const auto* product = std::get_if<BmatmulOp>(&op))
    return CountProducts(values, product->spec.depth);
  if (const auto* dense = std::get_if<DenseOp>(&op)) return CountProducts(values, dense->depth);
  if (const auto* dense = std::get_if<SignedDenseOp>(&op))
    return CountProducts(values, dense->shape.depth);
  return 0;
}

}  // namespace larq_engine
