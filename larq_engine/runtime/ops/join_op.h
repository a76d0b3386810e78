// CONCATENATION along any axis and PACK, of elements of any type. Hosts have a faster form along
// the last axis of floats (concatenation_op.h).
#ifndef LARQ_ENGINE_RUNTIME_OPS_JOIN_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_JOIN_OP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct JoinOp {
  size_t inputs;
  size_t element_bytes;
  int axis;        // from the end if negative
  bool adds_axis;  // PACK: the axis is a new one

  static bool CanClaim(const OpInfo& op, bool adds_axis);
  static JoinOp Read(const OpInfo& op, bool adds_axis);
  std::vector<size_t> DataInputs() const;
  TensorShape Shape(std::span<const TensorShape> shapes) const;
  // Returns the axis of the output, counted from the front. Throws OpError if there is none.
  size_t AxisOf(size_t rank) const;
  bool MixesSamples() const { return true; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_JOIN_OP_H_
