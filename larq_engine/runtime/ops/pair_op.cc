#include "larq_engine/runtime/ops/pair_op.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {
namespace {

template <typename T>
bool HasZero(const TensorInfo& constant) {
  std::vector<T> values(constant.bytes / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), constant.constant, values.size() * sizeof(T));
  return std::count(values.begin(), values.end(), T{0}) > 0;
}

// Tells whether a divisor is known to have no zero. With one, a host's run fails.
bool IsDivisor(const TensorInfo& tensor, ValueType type) {
  if (tensor.constant == nullptr) return false;
  if (type == ValueType::kFloat32) return !HasZero<float>(tensor);
  return !(type == ValueType::kInt32 ? HasZero<int32_t>(tensor) : HasZero<int64_t>(tensor));
}

}  // namespace

bool PairOp::CanClaim(const OpInfo& op, PairFunction function) {
  if (op.inputs.size() != 2 || !op.builtin_options.activation.has_value()) return false;
  const std::optional<ValueType> type = ValueTypeOf(op.inputs[0]);
  if (!type || ValueTypeOf(op.inputs[1]) != type || !IsOn(function, *type)) return false;
  const bool rounds = function == PairFunction::kFloorDiv || function == PairFunction::kFloorMod;
  return ValueTypeOf(op.output) == Read(op, function).OutputType() &&
         (!rounds || IsDivisor(op.inputs[1], *type));
}

PairOp PairOp::Read(const OpInfo& op, PairFunction function) {
  return {.function = function,
          .type = ValueTypeOf(op.inputs[0]).value(),
          .activation = op.builtin_options.activation.value()};
}

TensorShape PairOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(BroadcastShape(inputs[0].dims, inputs[1].dims));
}

}  // namespace larq_engine
