// FULLY_CONNECTED of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_DENSE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_DENSE_OP_H_

#include <cstddef>
#include <optional>
#include <span>

#include "larq_engine/runtime/ops/dense_op.h"
#include "larq_engine/runtime/ops/int8_conv2d_op.h"

namespace larq_engine {

struct Int8DenseOp {
  DenseShape shape;
  Int8Conv2dOp conv;  // 1x1, over a line of pixels, which are the rows

  static bool CanClaim(const OpInfo& op);
  static Int8DenseOp Read(const OpInfo& op);
  std::optional<size_t> RankOfRows() const { return shape.RankOfRows(); }
  TensorShape Shape(std::span<const TensorShape> inputs) const { return shape.Output(inputs[0]); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_DENSE_OP_H_
