// MEAN of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_MEAN_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_MEAN_OP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Computes round(sum * (ratio / count) + zero_point) as the host's XNNPACK does: in floats, halves
// to even. The host's other kernels multiply in integers.
struct Int8MeanOp {
  std::vector<bool> is_mean;  // for each dimension of the input: it goes, or becomes 1
  bool keeps_dims;
  float ratio;  // of the input's scale to the output's
  int32_t in_zero_point;
  int32_t zero_point;

  static bool CanClaim(const OpInfo& op);
  static Int8MeanOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_MEAN_OP_H_
