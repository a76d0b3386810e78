#include "larq_engine/runtime/ops/value_types.h"

namespace larq_engine {
namespace {

std::optional<ValueType> Find(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return ValueType::kFloat32;
    case ElementType::kInt32:
      return ValueType::kInt32;
    case ElementType::kInt64:
      return ValueType::kInt64;
    case ElementType::kBool:
      return ValueType::kBool;
    case ElementType::kInt8:
      return ValueType::kInt8;
    case ElementType::kUint8:
      return ValueType::kUint8;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ValueType> ValueTypeOf(const TensorInfo& tensor) {
  if (!tensor.present) return std::nullopt;
  const std::optional<ValueType> type = Find(tensor.type);
  if (!type || tensor.constant == nullptr) return type;
  const auto values = static_cast<size_t>(CountElements(tensor.dims, tensor.dims.size()));
  return tensor.bytes == values * BytesOf(*type) ? type : std::nullopt;
}

}  // namespace larq_engine
