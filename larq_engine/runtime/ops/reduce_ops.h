// AVERAGE_POOL_2D, MEAN and SOFTMAX of the host. They combine many values for each result.
#ifndef LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_
#define LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/window.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct AveragePool2dOp {
  Window2d window;
  Activation activation;

  static bool CanClaim(const OpInfo& op);
  static AveragePool2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

// The mean over consecutive dimensions before the last one.
struct MeanOp {
  size_t first;  // first dimension of the mean
  size_t last;   // dimension behind its last one
  bool keeps_dims;

  static bool CanClaim(const OpInfo& op);
  static MeanOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Describe the mean as the average of a window over images. An image's height is the product of
  // the dimensions that go, its width that of the dimensions between these and the last one.
  std::vector<int> ImageDims(const std::vector<int>& input) const;
  static Window2d Window(const std::vector<int>& image);

  std::optional<size_t> RankOfRows() const {
    if (first == 0) return std::nullopt;
    return 2;
  }
};

// The softmax of rows along the last dimension.
struct SoftmaxOp {
  static constexpr size_t kRankOfRows = 2;

  float beta;

  static bool CanClaim(const OpInfo& op);
  static SoftmaxOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_REDUCE_OPS_H_
