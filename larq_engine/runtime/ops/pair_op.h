// Functions of two values of the host, whose operands are broadcast: tensors of any rank, computed
// or constant. Hosts compute them by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_PAIR_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_PAIR_OP_H_

#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct PairOp {
  PairFunction function;
  ValueType type;
  Activation activation;

  static bool CanClaim(const OpInfo& op, PairFunction function);
  static PairOp Read(const OpInfo& op, PairFunction function);
  std::vector<size_t> DataInputs() const { return {0, 1}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  ValueType OutputType() const { return MakesBools(function) ? ValueType::kBool : type; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_PAIR_OP_H_
