// Constants that a DEQUANTIZE makes of weights of float16. They are computed when a model is
// opened, so that every operator sees them as constants of the file.
#ifndef LARQ_ENGINE_RUNTIME_MODEL_CONSTANT_FLOATS_H_
#define LARQ_ENGINE_RUNTIME_MODEL_CONSTANT_FLOATS_H_

#include <cstdint>
#include <optional>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/ops/op_info.h"

namespace larq_engine {

// Returns the output of a DEQUANTIZE, or nothing if its input is no constant of float16.
std::optional<AlignedBuffer<uint8_t>> ConstantFloats(const OpInfo& op);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MODEL_CONSTANT_FLOATS_H_
