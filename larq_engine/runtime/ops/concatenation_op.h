// CONCATENATION of the host along channels. It also joins the parts of a layer that was cut.
#ifndef LARQ_ENGINE_RUNTIME_OPS_CONCATENATION_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_CONCATENATION_OP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct ConcatenationOp {
  size_t inputs;
  size_t element_bytes = sizeof(float);

  static bool CanClaim(const OpInfo& op);
  static ConcatenationOp Read(const OpInfo& op);
  std::vector<size_t> DataInputs() const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_CONCATENATION_OP_H_
