// Describes a convolution of int8 values, independent of how it is computed.
#ifndef LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_

#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// Every size is at least 1.
struct Int8Conv2dSpec {
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  int64_t filter_height = 1;
  int64_t filter_width = 1;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  bool same = false;
  int32_t zero_point = 0;  // of the input; the pixels around it have this value

  int64_t line_depth() const { return filter_width * in_channels; }
  int64_t depth() const { return filter_height * line_depth(); }
  WindowAxis Height(int64_t in_height) const {
    return MakeWindowAxis(in_height, filter_height, stride_height, 1, {.same = same});
  }
  WindowAxis Width(int64_t in_width) const {
    return MakeWindowAxis(in_width, filter_width, stride_width, 1, {.same = same});
  }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_INT8_CONV2D_SPEC_H_
