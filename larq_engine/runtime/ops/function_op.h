// Functions of one value of the host, on tensors of any rank. Hosts compute them by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_

#include <cstddef>
#include <span>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct FunctionOp {
  static constexpr size_t kRankOfRows = 1;

  ValueFunction function;
  ValueType type;
  float alpha;  // see ValueLoop

  static bool CanClaim(const OpInfo& op, ValueFunction function);
  static FunctionOp Read(const OpInfo& op, ValueFunction function);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_FUNCTION_OP_H_
