// What follows the floats of a binary convolution in most networks, with a place for each step: an
// activation, a product and a sum with constants of the channel, and the sum with a residual. What
// it cannot say, a PixelProgram says. Plain data that the host fills in and kernels read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_
#define LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_

#include <cstdint>

namespace larq_engine::cuda {

// A step whose values are null, or whose clamp is not there, leaves y as it is.
struct SumProgram {
  struct Range {
    int32_t clamps;  // whether it does anything: infinite ends leave all values
    float min;
    float max;
  };
  struct Operand {
    const float* values;
    Range range;  // of the result
  };

  // y becomes the result of one after the other.
  Range activation;
  Operand product;   // y * values[channel]
  Operand sum;       // y + values[channel]
  float* sum_out;    // [pixel][channel]: y up to here
  Operand residual;  // y + values[pixel][channel]
  float* out;        // [pixel][channel]: y in the end
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_SUM_PROGRAM_H_
