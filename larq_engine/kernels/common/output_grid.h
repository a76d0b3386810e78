// The output pixels of a convolution over a batch of images. It knows which of them have all of
// their taps in the image.
#ifndef LARQ_ENGINE_KERNELS_COMMON_OUTPUT_GRID_H_
#define LARQ_ENGINE_KERNELS_COMMON_OUTPUT_GRID_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "larq_engine/kernels/common/window.h"

namespace larq_engine {

class OutputGrid {
 public:
  struct Position {
    int64_t image;
    int64_t y;
    int64_t x;
  };

  OutputGrid() = default;
  explicit OutputGrid(const WindowAxes& window)
      : window_(window),
        inner_height_(InnerOf(window.height)),
        inner_width_(InnerOf(window.width)) {}

  const WindowAxis& height() const { return window_.height; }
  const WindowAxis& width() const { return window_.width; }

  Position Locate(int64_t pixel) const {
    return {.image = pixel / window_.out_pixels(),
            .y = pixel / window_.width.out % window_.height.out,
            .x = pixel % window_.width.out};
  }

  void Advance(Position& position, int64_t pixels) const {
    position.x += pixels;
    while (position.x >= window_.width.out) {
      position.x -= window_.width.out;
      if (++position.y == window_.height.out) {
        position.y = 0;
        ++position.image;
      }
    }
  }

  // Calls take(tap, pixel) for each tap in the image: the tap's number in the window, and the
  // number of its pixel in all images.
  template <typename Take>
  void ForInsideTaps(const Position& position, const Take& take) const {
    const WindowAxis& height = window_.height;
    const WindowAxis& width = window_.width;
    const WindowAxis::Taps lines = height.InsideTaps(position.y);
    const WindowAxis::Taps columns = width.InsideTaps(position.x);
    for (int64_t ty = lines.first; ty < lines.last; ++ty) {
      const int64_t y = position.y * height.stride - height.pad_before + ty * height.dilation;
      for (int64_t tx = columns.first; tx < columns.last; ++tx) {
        const int64_t x = position.x * width.stride - width.pad_before + tx * width.dilation;
        take(ty * width.taps + tx, (position.image * height.in + y) * width.in + x);
      }
    }
  }

  size_t PixelsToEndOfImage(const Position& position) const {
    return static_cast<size_t>((window_.height.out - position.y) * window_.width.out - position.x);
  }

  // Returns how many pixels from this one on, at most `most`, are alike: either they are in one
  // line and none has taps left or right of the image, or each of them has such taps.
  int64_t PixelsAlike(const Position& position, int64_t most) const {
    if (inner_width_.first >= inner_width_.last) return most;
    if (position.x < inner_width_.first) return std::min(most, inner_width_.first - position.x);
    if (position.x < inner_width_.last) return std::min(most, inner_width_.last - position.x);
    return std::min(most, window_.width.out - position.x + inner_width_.first);
  }

  // Tells whether the pixel has no taps above or below the image.
  bool IsInnerLine(const Position& position) const {
    return position.y >= inner_height_.first && position.y < inner_height_.last;
  }

  // Tells whether these pixels are in one line, and have no taps left or right of the image.
  bool AreInnerInLine(const Position& position, size_t pixels) const {
    return position.x >= inner_width_.first &&
           position.x + static_cast<int64_t>(pixels) <= inner_width_.last;
  }

 private:
  // The output positions on an axis whose taps are all in the image.
  struct Inner {
    int64_t first = 0;
    int64_t last = 0;
  };
  static Inner InnerOf(const WindowAxis& axis) {
    // The last start of a window inside the image.
    const int64_t last_start = axis.in - axis.extent() + axis.pad_before;
    return {.first = (axis.pad_before + axis.stride - 1) / axis.stride,
            .last = last_start < 0 ? 0 : last_start / axis.stride + 1};
  }

  WindowAxes window_;
  Inner inner_height_;
  Inner inner_width_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_OUTPUT_GRID_H_
