// QUANTIZE of the host, from floats to int8 or uint8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_FLOATS_TO_BYTES_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_FLOATS_TO_BYTES_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Computes round(value * steps) + zero_point as the host's XNNPACK does: halves are rounded to
// even, and NaN becomes the largest byte, as on x86. The host's other kernel divides by the scale
// and rounds halves away from zero.
struct FloatsToBytesOp {
  static constexpr size_t kRankOfRows = 1;

  float steps;       // in a value of 1
  FloatRange range;  // of the rounded values, without the zero point
  int32_t zero_point;

  static bool CanClaim(const OpInfo& op);
  static FloatsToBytesOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_FLOATS_TO_BYTES_OP_H_
