// LOG_SOFTMAX of the host, along the last axis.
#ifndef LARQ_ENGINE_RUNTIME_OPS_LOG_SOFTMAX_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_LOG_SOFTMAX_OP_H_

#include <span>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct LogSoftmaxOp {
  static bool CanClaim(const OpInfo& op);
  static LogSoftmaxOp Read(const OpInfo&) { return {}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_LOG_SOFTMAX_OP_H_
