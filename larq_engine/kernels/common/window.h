// Describes windows that slide over images, and finds where they lie: the arithmetic of SAME and
// VALID as TensorFlow defines them, and of given pads. It is done in 64 bits, so that no size that
// a file can hold overflows.
#ifndef LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_
#define LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_

#include <algorithm>
#include <cstdint>

namespace larq_engine {

// The pixels around an image on one axis: either the number that SAME asks for, which depends on
// the image, or the given numbers, 0 or more. VALID is none.
struct AxisPadding {
  bool same = false;
  int64_t before = 0;
  int64_t after = 0;

  bool IsValid() const { return !same && before == 0 && after == 0; }
  bool operator==(const AxisPadding&) const = default;
};

struct WindowAxis;

// A window that slides over one axis.
struct Window1d {
  int64_t taps = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  AxisPadding padding = {};

  // Returns the number of pixels from the first tap to the last.
  int64_t extent() const { return (taps - 1) * dilation + 1; }
  // Tells whether the padded image holds the window. SAME pads as much as this takes.
  bool Fits(int64_t in) const {
    return padding.same || padding.before + in + padding.after >= extent();
  }
  // Returns the window on an axis of `in` pixels.
  WindowAxis Over(int64_t in) const;
  bool operator==(const Window1d&) const = default;
};

// The window on an axis of an image, and its positions, which are the output.
struct WindowAxis : Window1d {
  int64_t in = 1;
  int64_t out = 1;  // 0 when the window does not fit the padded image
  int64_t pad_before = 0;

  bool operator==(const WindowAxis&) const = default;

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

  // Tells whether any output position has taps outside the image.
  bool HasTapsOutside() const {
    return pad_before > 0 || (out - 1) * stride - pad_before + extent() > in;
  }
};

inline WindowAxis Window1d::Over(int64_t in) const {
  if (padding.same) {
    const int64_t out = (in + stride - 1) / stride;
    return {*this, in, out, std::max<int64_t>((out - 1) * stride + extent() - in, 0) / 2};
  }
  const int64_t last_start = padding.before + in + padding.after - extent();
  return {*this, in, Fits(in) ? last_start / stride + 1 : 0, padding.before};
}

// The window on both axes of an image.
struct WindowAxes {
  WindowAxis height;
  WindowAxis width;

  int64_t in_pixels() const { return height.in * width.in; }
  int64_t out_pixels() const { return height.out * width.out; }
  bool HasTapsOutside() const { return height.HasTapsOutside() || width.HasTapsOutside(); }
};

// A window that slides over both axes.
struct Window2d {
  Window1d height = {};
  Window1d width = {};

  int64_t taps() const { return height.taps * width.taps; }
  bool IsDilated() const { return height.dilation != 1 || width.dilation != 1; }
  // Tells whether there may be pixels around an image.
  bool IsPadded() const { return !(height.padding.IsValid() && width.padding.IsValid()); }
  bool Fits(int64_t in_height, int64_t in_width) const {
    return height.Fits(in_height) && width.Fits(in_width);
  }
  WindowAxes Over(int64_t in_height, int64_t in_width) const {
    return {height.Over(in_height), width.Over(in_width)};
  }
  bool operator==(const Window2d&) const = default;
};

// Returns the window that is the same on both axes.
constexpr Window2d SquareWindow(const Window1d& axis) { return {.height = axis, .width = axis}; }

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_WINDOW_H_
