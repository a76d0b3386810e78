// Describes a transposed convolution: its window slides over the output as that of a convolution
// over an image would, and each pixel of the input adds its products to all taps of its position.
#ifndef LARQ_ENGINE_KERNELS_COMMON_TRANSPOSED_CONV2D_SPEC_H_
#define LARQ_ENGINE_KERNELS_COMMON_TRANSPOSED_CONV2D_SPEC_H_

#include <algorithm>
#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

// Every size is at least 1. The window is not dilated.
struct TransposedConv2dSpec {
  int64_t in_channels = 1;
  int64_t out_channels = 1;
  Window2d window = {};
  int64_t out_height = 1;
  int64_t out_width = 1;

  // Returns the window on the axes of the output. Its positions are the pixels of the input.
  WindowAxes Over() const { return window.Over(out_height, out_width); }
  int64_t depth() const { return window.taps() * in_channels; }  // of a filter
};

// The positions [first, last) of a window that reach a pixel of the output.
struct Reaching {
  int64_t first;
  int64_t last;
};

// `place` is the pixel's number, counted from where the first position begins. Position i reaches
// it by tap place - i * stride.
inline Reaching PositionsReaching(const WindowAxis& axis, int64_t place) {
  const int64_t before = place - axis.taps;  // the last place that is out of reach
  const int64_t first = before < 0 ? 0 : before / axis.stride + 1;
  return {first, std::max(first, std::min(place / axis.stride + 1, axis.out))};
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_TRANSPOSED_CONV2D_SPEC_H_
