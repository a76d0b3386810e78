// SUM, MEAN, REDUCE_PROD, REDUCE_MAX and REDUCE_MIN over any axes. Hosts have a faster form of MEAN
// over images (reduce_ops.h).
#ifndef LARQ_ENGINE_RUNTIME_OPS_REDUCTION_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_REDUCTION_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct ReductionOp {
  enum Kind : uint8_t { kSum, kMean, kProduct, kMaximum, kMinimum };

  Kind kind;
  bool is_float;  // else int32
  std::vector<int> axes;
  bool keeps_dims;

  static bool CanClaim(const OpInfo& op, Kind kind);
  static ReductionOp Read(const OpInfo& op, Kind kind);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Returns for each dimension whether it is reduced. Throws OpError if an axis does not exist.
  std::vector<bool> Reduced(const std::vector<int>& dims) const;
  bool MixesSamples() const { return true; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_REDUCTION_OP_H_
