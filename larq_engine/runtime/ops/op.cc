#include "larq_engine/runtime/ops/op.h"

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

}  // namespace larq_engine
