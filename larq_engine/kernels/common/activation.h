// Activations that an operator ends with, and the ranges that they clamp to.
#ifndef LARQ_ENGINE_KERNELS_COMMON_ACTIVATION_H_
#define LARQ_ENGINE_KERNELS_COMMON_ACTIVATION_H_

#include <cstdint>
#include <limits>

#include "larq_engine/kernels/common/float_range.h"

namespace larq_engine {

// The order is that of TensorFlow Lite's files and interface, and of LCE's options.
enum class Activation : uint8_t { kNone, kRelu, kReluN1To1, kRelu6 };

inline FloatRange ActivationRange(Activation activation) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr FloatRange kRanges[] = {{-kInfinity, kInfinity}, {0, kInfinity}, {-1, 1}, {0, 6}};
  return kRanges[static_cast<uint8_t>(activation)];
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_ACTIVATION_H_
