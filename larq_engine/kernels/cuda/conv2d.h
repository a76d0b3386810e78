// Convolution of floats as a product of matrices whose left one is never made: a block computes a
// tile of output pixels and channels, and copies the taps and weights of a few steps of the depth
// ahead. Every tile sums in the order of Conv2dArgs, so that results do not depend on it.
#ifndef LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_
#define LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixel_values.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// Which of an output pixel's taps are inside the image.
struct TapLines {
  uintptr_t first;  // the address of the window's first value, which may lie outside
  int top;          // the window's, in the image
  int begin;        // of each of the filter's lines: the first value inside,
  int count;        // and how many follow
};

LE_DEVICE TapLines FindTapLines(const Conv2dArgs& a, int64_t pixel) {
  const ImageWindow& w = a.window;
  if (pixel >= OutPixels(w)) return {};
  const WindowStart start = StartOfWindow(w, pixel);
  const int begin = start.left < 0 ? -start.left : 0;
  const int left = w.in_width - start.left;
  const int end = left < w.filter_width ? left : w.filter_width;
  const int64_t line = start.first_pixel + static_cast<int64_t>(start.top) * w.in_width;
  const int64_t first = (line + start.left) * w.channels;
  return {reinterpret_cast<uintptr_t>(a.image) + static_cast<uintptr_t>(first) * sizeof(float),
          start.top, begin * w.channels, (end > begin ? end - begin : 0) * w.channels};
}

// What fills a thread's part of the left tile by copying: kRows rows of it, kApart apart, each the
// taps of an output pixel from `pixel` on.
template <int kRows, int kApart>
class CopiedTaps {
 public:
  LE_DEVICE CopiedTaps(const Conv2dArgs& a, int64_t pixel) : a_(a) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) rows_[i] = FindTapLines(a, pixel + i * kApart);
  }

  // Four values of the depth of each.
  LE_DEVICE void Fill(int depth, float* to) const {
    const uint32_t address = SharedAddress(to);
    if (a_.window.channels % 4 == 0) return Copy<16>(depth, address);
    LE_UNROLL
    for (int i = 0; i < 4; ++i) Copy<4>(depth + i, address + 4 * static_cast<uint32_t>(i));
  }

 private:
  // Zeros outside the image and behind the depth, where the address is none that is read.
  template <int kBytes>
  LE_DEVICE void Copy(int depth, uint32_t to) const {
    const ImageWindow& w = a_.window;
    const Divided<int32_t> place = Divide(depth, a_.line);
    const int ty = place.quotient;
    const int at = ty < w.filter_height ? place.rest : a_.line.value;
    const int64_t line = static_cast<int64_t>(w.in_width) * w.channels;
    const auto offset = static_cast<uintptr_t>(line * ty + at) * sizeof(float);
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const TapLines& row = rows_[i];
      const bool inside =
          static_cast<unsigned>(row.top + ty) < static_cast<unsigned>(w.in_height) &&
          static_cast<unsigned>(at - row.begin) < static_cast<unsigned>(row.count);
      CopyAsync<kBytes>(to + static_cast<uint32_t>(i * kApart * kConvPitch) * sizeof(float),
                        reinterpret_cast<const void*>(row.first + offset), inside ? kBytes : 0);
    }
  }

  const Conv2dArgs& a_;
  TapLines rows_[kRows];
};

// What a block has summed, kCount channels a thread at a time.
template <int kCount, int kPixels, int kChannels, int kThreads>
LE_DEVICE void FinishTile(const Conv2dArgs& a, const float* sums, int row_floats,
                          int64_t first_pixel, int first_channel) {
  constexpr int kLanes = kChannels / kCount;  // of a pixel
  static_assert(kPixels * kLanes % kThreads == 0);
  for (int i = static_cast<int>(threadIdx.x); i < kPixels * kLanes; i += kThreads) {
    const int64_t pixel = first_pixel + i / kLanes;
    const int channel = i % kLanes * kCount;
    const bool inside = pixel < OutPixels(a.window) && first_channel + channel < a.out_channels;
    FinishValues(a.program, LoadValues<kCount>(sums + i / kLanes * row_floats + channel),
                 {pixel, first_channel + channel, inside}, a.out_channels);
  }
}

// `Left` fills the left tile from `source`.
template <int kPixels, int kChannels, int kStages, template <int, int> class Left, class Source>
LE_DEVICE void MultiplyTile(const Conv2dArgs& a, const Source& source) {
  constexpr int kThreads = kPixels * kChannels / 16;
  constexpr int kColumns = kChannels / 4;  // of threads: each has 4 pixels and 4 channels
  constexpr int kLines = kPixels / 4;
  constexpr int kStageFloats = (kPixels + kChannels) * kConvPitch;
  // Copies of 4 floats: a thread begins with one of the 4 of a row, and always has the same.
  constexpr int kPixelCopies = kPixels * 4 / kThreads;
  constexpr int kFilterCopies = (kChannels * 4 + kThreads - 1) / kThreads;
  static_assert(kPixels * 4 % kThreads == 0 && kThreads % kWarp == 0 && kChannels % kWarp == 0);

  LE_SHARED_DYNAMIC(shared);
  auto* const stages = reinterpret_cast<float*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const Divided<int32_t> tile = Divide(static_cast<int32_t>(blockIdx.x), a.channel_tiles);
  const int64_t first_pixel = static_cast<int64_t>(tile.quotient) * kPixels;
  const int first_channel = tile.rest * kChannels;

  const int part = thread % 4;
  const Left<kPixelCopies, kThreads / 4> left(source, first_pixel + thread / 4);

  const int steps = a.filter_row / kConvStep;
  int next = 0;  // the step that is copied next
  const auto copy = [&] {
    if (next < steps) {
      float* const stage = stages + next % kStages * kStageFloats;
      const int depth = next * kConvStep + 4 * part;
      left.Fill(depth, stage + thread / 4 * kConvPitch + 4 * part);
      LE_UNROLL
      for (int i = 0; i < kFilterCopies; ++i) {
        const int row = thread / 4 + i * (kThreads / 4);
        if (row >= kChannels) break;
        const int channel = first_channel + row;
        const bool inside = channel < a.out_channels;
        const float* from = a.filter + (inside ? static_cast<int64_t>(channel) * a.filter_row : 0) +
                            next * kConvStep + 4 * part;
        CopyAsync<16>(SharedAddress(stage + (kPixels + row) * kConvPitch + 4 * part), from,
                      inside ? 16 : 0);
      }
      ++next;
    }
    CommitCopies();
  };
  const int line = thread / kColumns;
  const int column = thread % kColumns;
  float sums[4][4] = {};
  // The code of copies is long, so it is there once.
  LE_NO_UNROLL
  for (int step = 1 - kStages; step < steps; ++step) {
    if (step >= 0) {
      WaitCopies<kStages - 2>();
      __syncthreads();  // copies of all threads are there, and the stage before is read
    }
    copy();
    if (step < 0) continue;
    const float* const stage = stages + step % kStages * kStageFloats;
    LE_UNROLL
    for (int k = 0; k < kConvStep; k += 4) {
      Values<4> x[4];
      Values<4> w[4];
      LE_UNROLL
      for (int i = 0; i < 4; ++i) {
        x[i] = LoadValues<4>(stage + (line + i * kLines) * kConvPitch + k);
        w[i] = LoadValues<4>(stage + (kPixels + column + i * kColumns) * kConvPitch + k);
      }
      LE_UNROLL
      for (int d = 0; d < 4; ++d) {
        LE_UNROLL
        for (int i = 0; i < 4; ++i) {
          LE_UNROLL
          for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(x[i].v[d], w[j].v[d], sums[i][j]);
        }
      }
    }
  }
  WaitCopies<0>();
  __syncthreads();

  // Through shared memory, so that a thread gets channels of a pixel.
  constexpr int kRow = kChannels + 4;
  static_assert(kPixels * kRow <= kStages * kStageFloats);
  LE_UNROLL
  for (int i = 0; i < 4; ++i) {
    LE_UNROLL
    for (int j = 0; j < 4; ++j) {
      stages[(line + i * kLines) * kRow + column + j * kColumns] = sums[i][j];
    }
  }
  __syncthreads();
  if (a.out_channels % 4 == 0) {
    FinishTile<4, kPixels, kChannels, kThreads>(a, stages, kRow, first_pixel, first_channel);
  } else {
    FinishTile<1, kPixels, kChannels, kThreads>(a, stages, kRow, first_pixel, first_channel);
  }
}

template <int kPixels, int kChannels, int kStages>
LE_DEVICE void Conv2d(const Conv2dArgs& a) {
  MultiplyTile<kPixels, kChannels, kStages, CopiedTaps>(a, a);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_
