// AVERAGE_POOL_2D and MAX_POOL_2D of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_POOL_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_POOL_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/common/window.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// The host computes averages of int8 in integers, without XNNPACK: halves are rounded away from
// zero, whatever the zero point is.
struct Int8PoolOp {
  enum Kind : uint8_t { kAverage, kMax };

  Kind kind;
  Window2d window;
  int32_t lowest;
  int32_t highest;

  static bool CanClaim(const OpInfo& op, Kind kind);
  static Int8PoolOp Read(const OpInfo& op, Kind kind);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_POOL_OP_H_
