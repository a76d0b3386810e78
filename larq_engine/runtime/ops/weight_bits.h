// The weights of an LceUnpackWeights, which the file keeps as bits.
#ifndef LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_
#define LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/unpack_weights.h"
#include "larq_engine/model_file/element_type.h"
#include "larq_engine/runtime/ops/constant_values.h"

namespace larq_engine {

struct OpInfo;

struct WeightBits {
  ConstantValues<uint32_t> bits;
  ConstantValues<float> scale;
  PackedWeights packed;  // refers to the two above
  size_t axis;           // axis that the scales belong to, if there are several
  ElementType type;      // the type of the unpacked weights: float32 or int8

  // Throws OpError.
  static WeightBits Read(const OpInfo& op);

  // Throws std::bad_alloc if no memory could hold the unpacked weights.
  size_t UnpackedBytes() const;
  void UnpackTo(uint8_t* out) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_
