// AVERAGE_POOL_2D, MEAN and SOFTMAX of the host: what takes many values together.
#ifndef LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_
#define LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_

#include <cstddef>
#include <span>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/shape.h"
#include "larq_engine/runtime/ops/window2d.h"

namespace larq_engine {

struct OpInfo;

struct AveragePool2dOp {
  static constexpr bool kForOtherDevices = true;

  Window2d window;
  Activation activation;

  static bool CanClaim(const OpInfo& op);
  static AveragePool2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// Over dimensions that follow each other, before the last.
struct MeanOp {
  static constexpr bool kForOtherDevices = true;

  size_t first;  // dimension
  size_t last;   // and the one behind them
  bool keeps_dims;

  static bool CanClaim(const OpInfo& op);
  static MeanOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// Of rows along the last dimension.
struct SoftmaxOp {
  static constexpr bool kForOtherDevices = true;

  float beta;

  static bool CanClaim(const OpInfo& op);
  static SoftmaxOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_
