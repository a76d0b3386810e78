#include "larq_engine/runtime/ops/int8_pool_op.h"

#include "larq_engine/runtime/ops/int8_layer.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {

bool Int8PoolOp::CanClaim(const OpInfo& op, Kind) {
  if (op.inputs.size() != 1 || !op.builtin_options.activation.has_value()) return false;
  const TensorInfo& input = op.inputs[0];
  const std::optional<Window2d>& window = op.builtin_options.window;
  return IsQuantized(input, ElementType::kInt8) && input.constant == nullptr &&
         input.dims.size() == 4 && AreQuantizedAlike(input, op.output) && window.has_value() &&
         IsLegal(*window) && ReachesLittle(*window);
}

Int8PoolOp Int8PoolOp::Read(const OpInfo& op, Kind kind) {
  const FloatRange range = Int8Range(*op.builtin_options.activation, op.output);
  const int32_t zero_point = ZeroPointOf(op.output);
  return {.kind = kind,
          .window = *op.builtin_options.window,
          .lowest = static_cast<int32_t>(range.min) + zero_point,
          .highest = static_cast<int32_t>(range.max) + zero_point};
}

TensorShape Int8PoolOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  return {.dims = OutputDims(window, dims, dims[3])};
}

}  // namespace larq_engine
