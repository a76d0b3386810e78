// ARG_MAX and ARG_MIN of the host. Hosts compute them by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_ARG_MAX_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_ARG_MAX_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Finds the first index of the greatest or least value along an axis.
struct ArgMaxOp {
  enum Form : uint8_t { kArgMax, kArgMin };

  Form form;
  ValueType type;
  ValueType index_type;  // kInt32 or kInt64
  int64_t axis;          // negative: counted from the last one, which is -1

  static bool CanClaim(const OpInfo& op, Form form);
  static ArgMaxOp Read(const OpInfo& op, Form form);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Returns the axis of an input of this shape. Throws OpError if it has none, or nothing along it.
  size_t AxisOf(const std::vector<int>& dims) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_ARG_MAX_OP_H_
