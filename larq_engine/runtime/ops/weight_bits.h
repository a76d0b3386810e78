// The weights of an LceUnpackWeights, which the file keeps as bits.
#ifndef LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_
#define LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_

#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/unpack_weights.h"
#include "larq_engine/runtime/ops/constant_values.h"

namespace larq_engine {

struct OpInfo;

struct WeightBits {
  ConstantValues<uint32_t> bits;
  ConstantValues<float> scale;
  PackedWeights packed;  // refers to the two above
  size_t axis;           // axis that the scales belong to, if there are several

  // Throws OpError.
  static WeightBits Read(const OpInfo& op);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_WEIGHT_BITS_H_
