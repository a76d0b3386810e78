// Describes a convolution of floats, independent of how it is computed.
#ifndef LARQ_ENGINE_KERNELS_COMMON_FLOAT_CONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_FLOAT_CONV2D_SPEC_H_

#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// Every size is at least 1.
struct FloatConv2dSpec {
  bool is_depthwise = false;
  int64_t in_channels = 1;
  int64_t out_channels = 1;  // if depthwise, a multiple of in_channels
  int64_t groups = 1;  // each group has its share of input and output channels; 1 if depthwise
  Window2d window = {};

  int64_t group_in_channels() const { return in_channels / groups; }
  int64_t group_out_channels() const { return out_channels / groups; }
  // Returns how many products an output value adds up.
  int64_t depth() const { return window.taps() * (is_depthwise ? 1 : group_in_channels()); }
  // Tells whether pixel i of the output depends on pixel i of the image and nothing else.
  bool is_pixelwise() const {
    return !is_depthwise && groups == 1 &&
           window.taps() * window.height.stride * window.width.stride == 1;
  }
  // Tells whether an input channel makes several output channels by itself.
  bool has_multiplier() const { return is_depthwise && out_channels != in_channels; }
  // Describes a depthwise convolution as one in groups of an input channel each.
  FloatConv2dSpec InGroups() const {
    return {.in_channels = in_channels,
            .out_channels = out_channels,
            .groups = in_channels,
            .window = window};
  }
  bool operator==(const FloatConv2dSpec&) const = default;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_FLOAT_CONV2D_SPEC_H_
