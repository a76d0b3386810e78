// SOFTMAX of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_SOFTMAX_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_SOFTMAX_OP_H_

#include <array>
#include <cstddef>
#include <span>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// The softmax of rows along the last dimension, in steps of 1/256 from -128 on, as the host has it.
struct Int8SoftmaxOp {
  static constexpr size_t kRankOfRows = 2;

  std::array<float, 256> exponentials;  // of what a value is below the row's largest, in steps

  static bool CanClaim(const OpInfo& op);
  static Int8SoftmaxOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_SOFTMAX_OP_H_
