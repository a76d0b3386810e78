#include "larq_engine/runtime/ops/quantized_tensor.h"

#include <cmath>

#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {

FloatRange ByteRange(ElementType type) {
  return type == ElementType::kInt8 ? FloatRange{-128, 127} : FloatRange{0, 255};
}

bool IsQuantized(const TensorInfo& tensor, ElementType type) {
  const auto zero_point = static_cast<float>(ZeroPointOf(tensor));
  const FloatRange range = ByteRange(type);
  return tensor.present && tensor.type == type && tensor.scales.size() == 1 &&
         std::isnormal(tensor.scales[0]) && tensor.scales[0] > 0 &&
         tensor.zero_points.size() <= 1 && zero_point >= range.min && zero_point <= range.max;
}

bool IsQuantized(const TensorInfo& tensor) {
  return IsQuantized(tensor, ElementType::kInt8) || IsQuantized(tensor, ElementType::kUint8);
}

bool AreQuantizedAlike(const TensorInfo& a, const TensorInfo& b) {
  return IsQuantized(a, ElementType::kInt8) && HasFixedScale(b, a.scales[0], ZeroPointOf(a));
}

bool HasFixedScale(const TensorInfo& tensor, float scale, int32_t zero_point) {
  return IsQuantized(tensor, ElementType::kInt8) && tensor.scales[0] == scale &&
         ZeroPointOf(tensor) == zero_point;
}

}  // namespace larq_engine
