// AVERAGE_POOL_2D, MEAN and SOFTMAX of the host: what takes many values together.
#ifndef LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_
#define LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/shape.h"
#include "larq_engine/runtime/ops/window2d.h"

namespace larq_engine {

struct OpInfo;

struct AveragePool2dOp {
  Window2d window;
  Activation activation;

  static bool CanClaim(const OpInfo& op);
  static AveragePool2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// Over dimensions that follow each other, before the last.
struct MeanOp {
  size_t first;  // dimension
  size_t last;   // and the one behind them
  bool keeps_dims;

  static bool CanClaim(const OpInfo& op);
  static MeanOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // The mean as the average of a window: over images whose height is the dimensions that go, and
  // whose width is those up to the last.
  std::vector<int> ImageDims(const std::vector<int>& input) const;
  static Window2d Window(const std::vector<int>& image);
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
