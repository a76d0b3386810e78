#include "larq_engine/runtime/ops/op.h"

#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// Each pixel of the input meets every tap.
int64_t TransposedMacs(const TransposedConv2dSpec& spec, const TensorShape& output) {
  const WindowAxes window = spec.Over();
  const int64_t pixels = output.dims[0] * window.height.out * window.width.out;
  return CountProducts(CountProducts(pixels, spec.out_channels), spec.depth());
}

}  // namespace

std::optional<size_t> RankOfRows(const Op& op) {
  return std::visit(
      []<typename T>(const T& value) -> std::optional<size_t> {
        if constexpr (requires { T::kRankOfRows; }) return T::kRankOfRows;
        if constexpr (requires { value.RankOfRows(); }) return value.RankOfRows();
        return std::nullopt;
      },
      op);
}

bool MixesSamples(const Op& op) {
  return std::visit(
      []<typename T>(const T& value) {
        if constexpr (requires { value.MixesSamples(); }) return value.MixesSamples();
        return false;
      },
      op);
}

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

int64_t Macs(const Op& op, std::span<const TensorShape> inputs, const TensorShape& output) {
  if (const auto* conv = std::get_if<Bconv2dOp>(&op)) return conv->Macs(output);
  const int64_t values = CountElements(output.dims, output.dims.size());
  if (const auto* conv = std::get_if<Conv2dOp>(&op))
    return CountProducts(values, conv->spec.depth());
  if (const auto* conv = std::get_if<Int8Conv2dOp>(&op))
    return CountProducts(values, conv->spec.depth());
  if (const auto* conv = std::get_if<TransposedConv2dOp>(&op))
    return TransposedMacs(conv->spec, output);
  if (const auto* conv = std::get_if<Int8TransposedConv2dOp>(&op))
    return TransposedMacs(conv->spec, output);
  if (const auto* product = std::get_if<BatchMatmulOp>(&op))
    return CountProducts(values, product->Depth(inputs[0].dims));
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
