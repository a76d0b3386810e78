// Finds where a sliding window lies on one axis of an image: the arithmetic of SAME and VALID as
// TensorFlow defines them, and of given pads. It is done in 64 bits, so that no size that a file
// can hold overflows.
#ifndef LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_
#define LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace larq_engine {

struct WindowAxis {
  int64_t in = 1;
  int64_t taps = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t out = 1;
  int64_t pad_before = 0;

  // The taps [first, last) of output position `o` that lie inside the image.
  struct Taps {
    int64_t first;
    int64_t last;
  };
  Taps InsideTaps(int64_t o) const {
    const int64_t start = o * stride - pad_before;
    const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    // This holds for most windows.
    if (start + (taps - 1) * dilation < in) return {std::min(first, taps), taps};
    const int64_t last = start >= in ? 0 : (in - 1 - start) / dilation + 1;
    return {std::min(first, taps), std::clamp(last, std::min(first, taps), taps)};
  }
};

// The pixels around an image on one axis: either the number that SAME asks for, which depends on
// the image, or the given numbers, 0 or more. VALID is none.
struct AxisPadding {
  bool same = false;
  int64_t before = 0;
  int64_t after = 0;

  bool IsValid() const { return !same && before == 0 && after == 0; }
};

// `out` is 0 when the window does not fit the padded image.
static inline WindowAxis MakeWindowAxis(int64_t in, int64_t taps, int64_t stride, int64_t dilation,
                                        const AxisPadding& padding) {
  WindowAxis axis{.in = in, .taps = taps, .stride = stride, .dilation = dilation};
  const int64_t extent = (taps - 1) * dilation + 1;
  if (padding.same) {
    axis.out = (in + stride - 1) / stride;
    axis.pad_before = std::max<int64_t>((axis.out - 1) * stride + extent - in, 0) / 2;
  } else {
    const int64_t padded = padding.before + in + padding.after;
    axis.out = padded < extent ? 0 : (padded - extent) / stride + 1;
    axis.pad_before = padding.before;
  }
  return axis;
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_
