// What happens to the values of a pixel, one by one, on their way to memory: the operators that a
// kernel computes besides its own. Plain data that the host fills in and kernels read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_

#include <cstdint>

namespace larq_engine::cuda {

// y becomes the result of one of these.
struct PixelStep {
  enum Kind : int32_t {
    kAddChannels,       // clamp(y + values[channel])
    kMultiplyChannels,  // clamp(y * values[channel])
    kAddTensor,         // clamp(y + values[pixel][channel])
    kMultiplyTensor,    // clamp(y * values[pixel][channel])
    kClamp,             // clamp(y)
    kPrelu,             // y < 0 ? y * values[channel] : y
    kStore,             // y, which out[pixel][channel] becomes
  };
  Kind kind;
  float min;  // of clamps
  float max;
  const float* values;
  float* out;
};

// QuickNet needs 6 (activation, product, sum, residual sum, two stores).
inline constexpr int kMaxPixelSteps = 12;

struct PixelProgram {
  int32_t count;
  int32_t planes = 1;
  PixelStep steps[kMaxPixelSteps];
  // The sign of what the last step leaves, or null: -1 (a bit that is 1) where it is smaller than
  // 0, or, with limits, than its channel's limit after its sign was turned where `signs` says so.
  // Of several planes it is the number of limits that the value is not smaller than, as
  // kernels/quantize_planes.h has it.
  uint32_t* bits;  // [pixels][planes][words of the channels]
  // [2^planes - 1][channels], of each channel in rising order; fewer than 2^32.
  const float* limits;
  const uint32_t* signs;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXEL_PROGRAM_H_
