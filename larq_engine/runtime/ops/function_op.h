// Functions of one value of the host, on tensors of any rank. Hosts compute them by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_

#include <optional>
#include <span>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/shape.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

struct OpInfo;

struct FunctionOp {
  ValueFunction function;
  ValueType type;
  float alpha;  // see ValueLoop

  static bool CanClaim(const OpInfo& op, ValueFunction function);
  static FunctionOp Read(const OpInfo& op, ValueFunction function);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// Returns nothing for an absent tensor, or one of other types.
std::optional<ValueType> ValueTypeOf(const TensorInfo& tensor);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_
