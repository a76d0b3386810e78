// CAST of the host, of values of any two types. Hosts compute it by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_CAST_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_CAST_OP_H_

#include <cstddef>
#include <span>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct CastOp {
  static constexpr size_t kRankOfRows = 1;

  ValueType from;
  ValueType to;

  static bool CanClaim(const OpInfo& op);
  static CastOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_CAST_OP_H_
