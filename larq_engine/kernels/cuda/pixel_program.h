// The program of operators that a kernel applies to each value of a pixel before storing it: the
// operators that are fused into the kernel. Plain data that the host fills in and kernels read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_

#include <cstdint>

namespace larq_engine::cuda {

// A step, which replaces y by its result.
struct PixelStep {
  enum Kind : int32_t {
    kAddChannels,       // clamp(y + values[channel])
    kMultiplyChannels,  // clamp(y * values[channel])
    kAddTensor,         // clamp(y + values[pixel][channel])
    kMultiplyTensor,    // clamp(y * values[pixel][channel])
    kClamp,             // clamp(y)
    kPrelu,             // y < 0 ? y * values[channel] : y
    kStore,             // out[pixel][channel] = y
  };
  Kind kind;
  float min;  // the range of clamps
  float max;
  const float* values;
  float* out;
};

// The greatest number of steps. QuickNet needs 6 (activation, product, sum, residual sum, two
// stores).
inline constexpr int kMaxPixelSteps = 12;

struct PixelProgram {
  int32_t count;
  int32_t planes = 1;
  PixelStep steps[kMaxPixelSteps];
  // The output of bits, or null. A bit is the sign of the last step's result: it is 1 (which means
  // -1) where the result is smaller than 0 or, if there are limits, where the result with its sign
  // flipped as `signs` says is smaller than the channel's limit. With several planes the bits are
  // the number of limits that the result is not smaller than, as in kernels/quantize_planes.h.
  uint32_t* bits;  // [pixels][planes][words of the channels]
  // [2^planes - 1][channels]: the limits of each channel in rising order. There are fewer than
  // 2^32.
  const float* limits;
  const uint32_t* signs;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_
