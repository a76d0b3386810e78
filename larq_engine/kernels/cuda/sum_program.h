// The steps that follow the floats of a binary convolution in most networks, with a place for each
// step: an activation, a product and a sum with constants of the channel, and a sum with a
// residual. Other programs are PixelPrograms. Plain data that the host fills in and kernels read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_
#define LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_

#include <cstdint>

namespace larq_engine::cuda {

// A program; a step whose values are null, or whose range does not clamp, leaves y as it is.
struct SumProgram {
  struct Range {
    int32_t clamps;  // whether to clamp: infinite ends would change nothing
    float min;
    float max;
  };
  struct Operand {
    const float* values;
    Range range;  // of the result
  };

  // The steps run in this order, and each replaces y by its result.
  Range activation;
  Operand product;   // y * values[channel]
  Operand sum;       // y + values[channel]
  float* sum_out;    // [pixel][channel]: receives y after `sum`
  Operand residual;  // y + values[pixel][channel]
  float* out;        // [pixel][channel]: receives y at the end
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_
