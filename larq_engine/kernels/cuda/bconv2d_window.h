// Finds where the taps of an output pixel lie in the image, without a division for each tap.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WINDOW_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WINDOW_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"
#include "larq_engine/kernels/cuda/bconv2d_tiles.h"

namespace larq_engine::cuda {

// A place in the depth: a tap and one of its words.
struct DepthPlace {
  int ty;
  int tx;
  int word;

  LE_DEVICE static DepthPlace At(const Bconv2dArgs& a, int depth_word) {
    const Divided<int32_t> tap = Divide(depth_word, a.divisors.tap_words);
    const Divided<int32_t> row = Divide(tap.quotient, a.divisors.filter_width);
    return {row.quotient, row.rest, tap.rest};
  }

  // Advances to the place that is as far behind this one as `step` is behind the first.
  LE_DEVICE void Advance(const Bconv2dArgs& a, const DepthPlace& step) {
    word += step.word;
    tx += step.tx;
    ty += step.ty;
    if (word >= a.tap_words) {
      word -= a.tap_words;
      ++tx;
    }
    if (tx >= a.filter_width) {
      tx -= a.filter_width;
      ++ty;
    }
  }

  // Returns the offset in the image from the pixel's first tap, in words.
  LE_DEVICE int Offset(const Bconv2dArgs& a) const {
    return (ty * a.dilation_height * a.in_width + tx * a.dilation_width) * a.pixel_words + word;
  }

  // Returns the bits that TapWindow::taps has if the tap is inside the image. Behind the end of the
  // depth these are bits that it never has.
  LE_DEVICE uint32_t TapBits(const Bconv2dArgs& a) const {
    return ty < a.filter_height ? 1u << ty | 1u << (16 + tx) : ~0u;
  }
};

// Words that one load reads.
template <int kWords>
struct alignas(4 * kWords) LoadedWords {
  uint32_t w[kWords];
};

struct TapWindow {
  int32_t offset;  // the first tap's in the image, in words
  uint32_t taps;   // a bit for each row of the filter inside the image, and from 16 on for columns

  LE_DEVICE bool Has(uint32_t tap_bits) const { return (taps & tap_bits) == tap_bits; }
};

// Returns a mask of the bits [first, last), for an axis with at most kMaxFilterSize taps.
LE_DEVICE uint32_t InsideBits(const InsideTaps& taps) {
  const int first = taps.first < kMaxFilterSize ? taps.first : kMaxFilterSize;
  return ((1u << taps.last) - 1u) & ~((1u << first) - 1u);
}

// The coordinates of an output pixel.
struct PixelPlace {
  int image;
  int y;
  int x;

  LE_DEVICE static PixelPlace At(const Bconv2dArgs& a, int index) {
    const Divided<int32_t> line = Divide(index, a.divisors.out_width);
    const Divided<int32_t> image = Divide(line.quotient, a.divisors.out_height);
    return {image.quotient, image.rest, line.rest};
  }

  // Advances to the pixel that is as far behind this one as `step` is behind the first.
  LE_DEVICE void Advance(const Bconv2dArgs& a, const PixelPlace& step) {
    image += step.image;
    y += step.y;
    x += step.x;
    if (x >= a.out_width) {
      x -= a.out_width;
      ++y;
    }
    if (y >= a.out_height) {
      y -= a.out_height;
      ++image;
    }
  }
};

// Returns the taps of an output pixel, in a group whose channels begin at `first_word` of the
// image's pixels. A pixel behind the last one has no taps inside.
LE_DEVICE TapWindow MakeTapWindow(const Bconv2dArgs& a, const PixelPlace& place, int first_word) {
  if (place.image >= a.batch) return {0, 0};
  const int left = place.x * a.stride_width - a.pad_left;
  const int top = place.y * a.stride_height - a.pad_top;
  const uint32_t row_bits =
      InsideBits(FindInsideTaps(top, a.in_height, a.filter_height, a.divisors.dilation_height));
  const uint32_t col_bits =
      InsideBits(FindInsideTaps(left, a.in_width, a.filter_width, a.divisors.dilation_width));
  return {((place.image * a.in_height + top) * a.in_width + left) * a.pixel_words + first_word,
          row_bits | col_bits << 16};
}

// Finds the taps of the pixels `first`, first + step, ...
template <int kRows>
LE_DEVICE void MakeTapWindows(const Bconv2dArgs& a, int first, int step, int first_word,
                              TapWindow (&windows)[kRows]) {
  PixelPlace place = PixelPlace::At(a, first);
  const PixelPlace further = PixelPlace::At(a, step);
  LE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    windows[i] = MakeTapWindow(a, place, first_word);
    place.Advance(a, further);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_WINDOW_H_
