// Describes what follows the sums of a dense layer whose weights are +-1 times a number for each
// output:
//
//   float:  y = clamp(sum * scale + bias)                     each operation rounds to float32
//   int8:   int8_output.h on sum * weight + bias, which has 32 bits
#ifndef LARQ_ENGINE_KERNELS_COMMON_SIGNED_DENSE_OUTPUT_H_
#define LARQ_ENGINE_KERNELS_COMMON_SIGNED_DENSE_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/kernels/common/int8_output.h"

namespace larq_engine {

// More inputs might make sums that 32 bits cannot hold.
inline constexpr size_t kMaxSignedDepth = 1 << 16;

struct SignedDenseSize {
  int64_t rows;  // rows of inputs
  int64_t depth;
  int64_t units;
  bool is_int8;
};

// The vectors have a value for each output.
struct FloatDenseOutput {
  std::vector<float> scale;
  std::vector<float> bias;
  FloatRange range;
};

struct Int8DenseOutput : Int8Output {
  std::vector<int32_t> weight;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_SIGNED_DENSE_OUTPUT_H_
