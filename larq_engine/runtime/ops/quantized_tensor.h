// Tensors of bytes that stand for numbers: (byte - zero_point) * scale.
#ifndef LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_TENSOR_H_
#define LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_TENSOR_H_

#include <cstdint>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

// Returns the range of int8 or uint8.
FloatRange ByteRange(ElementType type);

// Tells whether the tensor is of this type, int8 or uint8, and has one scale, which XNNPACK takes,
// and a zero point in its range.
bool IsQuantized(const TensorInfo& tensor, ElementType type);
// The same for either type.
bool IsQuantized(const TensorInfo& tensor);

// Tells whether both tensors are of int8 and have the same scale and zero point.
bool AreQuantizedAlike(const TensorInfo& a, const TensorInfo& b);

// Tells whether the tensor is of int8 with this scale and zero point, which hosts ask for where
// they know the range of a function.
bool HasFixedScale(const TensorInfo& tensor, float scale, int32_t zero_point);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_QUANTIZED_TENSOR_H_
