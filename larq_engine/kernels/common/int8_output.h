// Describes what follows the sums of a layer of int8 values, as the host's XNNPACK computes it:
//
//   q = clamp(round(sum * multiplier)) + zero_point
//
// Sums have 32 bits and wrap; the product is a float32, rounded to nearest, halves to even.
#ifndef LARQ_ENGINE_KERNELS_COMMON_INT8_OUTPUT_H_
#define LARQ_ENGINE_KERNELS_COMMON_INT8_OUTPUT_H_

#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/float_range.h"

namespace larq_engine {

// The vectors have a value for each output channel.
struct Int8Output {
  std::vector<int32_t> bias;  // added to the sum
  std::vector<float> multiplier;
  FloatRange range;  // whole numbers, without the zero point
  int32_t zero_point;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_INT8_OUTPUT_H_
