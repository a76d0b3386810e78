#include "larq_engine/runtime/ops/bytes_to_floats_op.h"

#include <cmath>

#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {

bool BytesToFloatsOp::CanClaim(const OpInfo& op, Form form) {
  if (!IsFloatOp(op, 1)) return false;
  const TensorInfo& input = op.inputs[0];
  const bool are_bytes = input.type == ElementType::kUint8 || input.type == ElementType::kInt8;
  if (!input.present || !are_bytes || input.constant != nullptr || input.dims.empty()) return false;
  if (form == kCast) return true;
  const int32_t zero_point = ZeroPointOf(input);
  const int32_t lowest = input.type == ElementType::kInt8 ? INT8_MIN : 0;
  return input.scales.size() == 1 && std::isfinite(input.scales[0]) &&
         input.zero_points.size() <= 1 && zero_point >= lowest && zero_point <= lowest + UINT8_MAX;
}

BytesToFloatsOp BytesToFloatsOp::Read(const OpInfo& op, Form form) {
  const TensorInfo& input = op.inputs[0];
  BytesToFloatsOp read{.are_signed = input.type == ElementType::kInt8};
  if (form == kDequantize) {
    read.zero_point = ZeroPointOf(input);
    read.scale = input.scales[0];
  }
  return read;
}

TensorShape BytesToFloatsOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
