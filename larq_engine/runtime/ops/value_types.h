// The types of tensors whose values are computed one by one.
#ifndef LARQ_ENGINE_RUNTIME_OPS_VALUE_TYPES_H_
#define LARQ_ENGINE_RUNTIME_OPS_VALUE_TYPES_H_

#include <optional>

#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

// Returns nothing for an absent tensor, one of other types, or a constant of a wrong size.
std::optional<ValueType> ValueTypeOf(const TensorInfo& tensor);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_VALUE_TYPES_H_
