// Max pools and average pools on the device, by kernels/pool.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_POOLS_H_
#define LARQ_ENGINE_KERNELS_CUDA_POOLS_H_

#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixels.h"

namespace larq_engine::cuda {

LE_DEVICE int Least(int a, int b) { return a < b ? a : b; }

// Calls take(pixel) for each tap inside the image, line by line. It does not loop over taps
// outside, as a model file may ask for a window of any size.
template <class Take>
LE_DEVICE void ForEachTap(const ImageWindow& w, int64_t out_pixel, const Take& take) {
  const WindowStart start = StartOfWindow(w, out_pixel);
  const int bottom = Least(w.in_height, start.top + w.filter_height);
  const int right = Least(w.in_width, start.left + w.filter_width);
  for (int y = start.top < 0 ? 0 : start.top; y < bottom; ++y) {
    const int64_t line = start.first_pixel + static_cast<int64_t>(y) * w.in_width;
    for (int x = start.left < 0 ? 0 : start.left; x < right; ++x) take(line + x);
  }
}

// Computes a max pool of bits: a bit is 1 (which is -1) only where all bits of the window are.
LE_DEVICE void MaxPoolBits(const PoolArgs& a) {
  const ValuesPlace my = MyValues<1>(a.lanes, OutPixels(a.window), a.window.channels);
  if (!my.inside) return;
  uint32_t word = ~0u;
  ForEachTap(a.window, my.pixel,
             [&](int64_t pixel) { word &= a.bits[pixel * a.window.channels + my.channel]; });
  a.bits_out[my.pixel * a.window.channels + my.channel] = word;
}

// Replaces each y by the next value if that is greater, or if it is the first.
template <int kCount>
LE_DEVICE void TakeGreater(Values<kCount>& y, const Values<kCount>& next, bool is_first) {
  LE_UNROLL
  for (int i = 0; i < kCount; ++i) y.v[i] = is_first || next.v[i] > y.v[i] ? next.v[i] : y.v[i];
}

// Returns the greatest values of a window of kFilter lines and columns among `taps`. A tap outside
// the image may be replaced by the nearest one inside, which is in the window too, so that the
// result is the same.
template <int kFilter, int kCount, int kLines, int kColumns>
LE_DEVICE Values<kCount> Greatest(const Values<kCount> (&taps)[kLines][kColumns], int line,
                                  int column) {
  Values<kCount> y = {};
  LE_UNROLL
  for (int i = 0; i < kFilter * kFilter; ++i) {
    TakeGreater(y, taps[line + i / kFilter][column + i % kFilter], i == 0);
  }
  return y;
}

// Loads the values of a few lines and columns of pixels.
template <int kCount, int kLines, int kColumns>
LE_DEVICE void LoadPixels(const NearestPixels<kLines, kColumns>& pixels,
                          Values<kCount> (&values)[kLines][kColumns]) {
  LE_UNROLL
  for (int i = 0; i < kLines; ++i) {
    LE_UNROLL
    for (int j = 0; j < kColumns; ++j) values[i][j] = LoadValues<kCount>(pixels.At(i, j));
  }
}

// Computes a max pool of floats. kFilter is the window's lines and columns, or 0 for any window.
template <int kCount, int kFilter = 0>
LE_DEVICE void MaxPoolFloats(const PoolArgs& a) {
  const ImageWindow& w = a.window;
  const ValuesPlace my = MyValues<kCount>(a.lanes, OutPixels(w), w.channels);
  Values<kCount> y = {};
  if (my.inside) {
    if constexpr (kFilter > 0) {
      const WindowStart start = StartOfWindow(w, my.pixel);
      Values<kCount> taps[kFilter][kFilter];
      LoadPixels({a.floats, w, start, my.channel}, taps);
      y = Greatest<kFilter>(taps, 0, 0);
    } else {
      bool is_first = true;
      ForEachTap(w, my.pixel, [&](int64_t pixel) {
        TakeGreater(y, LoadValues<kCount>(a.floats + pixel * w.channels + my.channel), is_first);
        is_first = false;
      });
    }
  }
  FinishValues(a.program, y, my, w.channels);
}

// The sum of a whole image is the sum of parts of this many pixels, as in ImageAverage of
// kernels/pool.h.
constexpr int kPixelsOfPart = 16;
// The number of values that are loaded before they are added: a load takes hundreds of clocks.
constexpr int kPixelsAtOnce = 8;

// Tells whether each image has one window, which contains all of its pixels.
LE_DEVICE bool CoversImage(const ImageWindow& w) {
  return w.out_height.value == 1 && w.out_width.value == 1 &&
         w.filter_height - w.pad_top >= w.in_height && w.filter_width - w.pad_left >= w.in_width;
}

template <int kCount>
LE_DEVICE void AddTo(Values<kCount>& sum, const Values<kCount>& next) {
  LE_UNROLL
  for (int i = 0; i < kCount; ++i) sum.v[i] += next.v[i];
}

// Returns the sum of `pixels` pixels of an image, of which the first begins at `from`.
template <int kCount>
LE_DEVICE Values<kCount> SumOfImage(const float* from, int pixels, int channels) {
  Values<kCount> sum = {};
  LE_NO_UNROLL
  for (int first = 0; first < pixels; first += kPixelsOfPart) {
    const int end = Least(first + kPixelsOfPart, pixels);
    int pixel = first;
    Values<kCount> sum_of_part = {};
    LE_NO_UNROLL
    for (; pixel + kPixelsAtOnce <= end; pixel += kPixelsAtOnce) {
      Values<kCount> values[kPixelsAtOnce];
      LE_UNROLL
      for (int i = 0; i < kPixelsAtOnce; ++i, from += channels) {
        values[i] = LoadValues<kCount>(from);
      }
      LE_UNROLL
      for (int i = 0; i < kPixelsAtOnce; ++i) AddTo(sum_of_part, values[i]);
    }
    LE_NO_UNROLL
    for (; pixel < end; ++pixel, from += channels) AddTo(sum_of_part, LoadValues<kCount>(from));
    AddTo(sum, sum_of_part);
  }
  return sum;
}

// The sum of a window's taps inside the image, line by line, and the number of these taps.
template <int kCount>
struct SumOfTapsInside {
  Values<kCount> sum = {};
  int taps = 0;

  LE_DEVICE void Add(const Values<kCount>& tap) {
    AddTo(sum, tap);
    ++taps;
  }
};

// Returns the sum of the taps inside of a window of kFilter lines and columns.
template <int kCount, int kFilter>
LE_DEVICE SumOfTapsInside<kCount> SumOfSquare(const PoolArgs& a, const ValuesPlace& my) {
  const WindowStart start = StartOfWindow(a.window, my.pixel);
  Values<kCount> taps[kFilter][kFilter];
  LoadPixels({a.floats, a.window, start, my.channel}, taps);
  SumOfTapsInside<kCount> inside;
  LE_UNROLL
  for (int i = 0; i < kFilter * kFilter; ++i) {
    const int line = i / kFilter;
    const int column = i % kFilter;
    if (IsInside(a.window, start.top + line, start.left + column)) inside.Add(taps[line][column]);
  }
  return inside;
}

// Computes an average pool. One kernel has the code for all kinds of windows, as they share its
// end, which is most of the code.
template <int kCount>
LE_DEVICE void AveragePool(const PoolArgs& a) {
  const ImageWindow& w = a.window;
  const ValuesPlace my = MyValues<kCount>(a.lanes, OutPixels(w), w.channels);
  SumOfTapsInside<kCount> inside;
  if (my.inside) {
    if (CoversImage(w)) {
      inside.taps = w.in_height * w.in_width;
      const float* const image = a.floats + my.pixel * inside.taps * w.channels + my.channel;
      inside.sum = SumOfImage<kCount>(image, inside.taps, w.channels);
    } else if (kCount > 1 && HasFilter(w, 2)) {
      inside = SumOfSquare<kCount, 2>(a, my);
    } else if (kCount > 1 && HasFilter(w, 3)) {
      inside = SumOfSquare<kCount, 3>(a, my);
    } else {
      ForEachTap(w, my.pixel, [&](int64_t pixel) {
        inside.Add(LoadValues<kCount>(a.floats + pixel * w.channels + my.channel));
      });
    }
  }
  Values<kCount> mean = inside.sum;
  LE_UNROLL
  for (int i = 0; i < kCount; ++i) mean.v[i] /= static_cast<float>(inside.taps);
  FinishValues(a.program, mean, my, w.channels);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_POOLS_H_
