// Describes a convolution of int8 values, independent of how it is computed.
#ifndef LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_

#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// Every size is at least 1. The channels of both sides are cut into this many groups; those of a
// group of the output are made of the same group of the input. A depthwise convolution has a group
// for each channel of the input.
struct Int8Conv2dSpec {
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t groups = 1;
  Window2d window = {};
  int32_t zero_point = 0;  // of the input; the pixels around it have this value

  int64_t line_depth() const { return window.width.taps * (in_channels / groups); }
  int64_t depth() const { return window.height.taps * line_depth(); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_
