// Convolution of floats as a product of matrices whose left one is never stored (implicit im2col):
// a block computes a tile of output pixels and channels, and copies the taps and weights of the
// next few steps of the depth ahead. Every tile sums in the order of Conv2dArgs, so that results do
// not depend on the tile.
#ifndef LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_
#define LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixel_values.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// The taps of an output pixel that are inside the image.
struct TapLines {
  uintptr_t first;  // the address of the window's first value, which may lie outside
  int top;          // the window's first line, in the image
  int begin;        // the first value inside of each of the filter's lines
  int count;        // the number of values inside from there on
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

// The ways in which a thread copies the taps of a window.
enum class TapCopies {
  kValues,  // single values of any window
  kFours,   // four channels of any window
  kPixel,   // four channels of a window of one pixel, which needs no division
  kFew,     // up to 32 single values of 3 x 3 taps: bits tell which are inside
};

inline constexpr int kFewTaps = 32;

LE_DEVICE TapCopies FindTapCopies(const ImageWindow& w) {
  if (w.channels % 4 == 0) {
    return HasFilter(w, 1) ? TapCopies::kPixel : TapCopies::kFours;
  }
  // Offsets in three lines of this length fit into 32 bits.
  const bool is_few = HasFilter(w, 3) && w.channels <= kFewTaps / 9 && w.in_width < 1 << 26;
  return is_few ? TapCopies::kFew : TapCopies::kValues;
}

// Returns a mask whose bit i tells whether value i of the few is inside.
LE_DEVICE uint32_t FindFewTaps(const ImageWindow& w, const TapLines& lines) {
  if (lines.count == 0) return 0;
  const uint32_t line = ((1u << lines.count) - 1u) << lines.begin;
  uint32_t inside = 0;
  LE_UNROLL
  for (int ty = 0; ty < 3; ++ty) {
    if (HasLine(w, lines.top + ty)) inside |= line << ty * 3 * w.channels;
  }
  return inside;
}

// Fills a thread's part of the left tile by copying: kRows rows of it, kApart apart, where each row
// has the taps of an output pixel, and the first is `pixel`.
template <int kRows, int kApart>
class CopiedTaps {
 public:
  LE_DEVICE CopiedTaps(const Conv2dArgs& a, int64_t pixel)
      : a_(a), copies_(FindTapCopies(a.window)) {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      TapLines& row = rows_[i];
      row = FindTapLines(a, pixel + i * kApart);
      if (copies_ == TapCopies::kPixel && !HasLine(a.window, row.top)) row.count = 0;
      few_[i] = copies_ == TapCopies::kFew ? FindFewTaps(a.window, row) : 0;
    }
  }

  // Copies four values of the depth for each row.
  LE_DEVICE void Fill(int depth, float* to) const {
    const uint32_t address = SharedAddress(to);
    if (copies_ == TapCopies::kPixel) return CopyPixel(depth, address);
    if (copies_ == TapCopies::kFours) return Copy<16>(depth, address);
    if (copies_ == TapCopies::kFew) {
      LE_UNROLL
      for (int i = 0; i < 4; ++i) CopyFew(depth + i, address + 4 * static_cast<uint32_t>(i));
      return;
    }
    // This way is slow in any case, so the loop is not unrolled.
    LE_NO_UNROLL
    for (int i = 0; i < 4; ++i) Copy<4>(depth + i, address + 4 * static_cast<uint32_t>(i));
  }

 private:
  // Copies zeros outside the image and behind the depth, where the address is not read.
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
      const bool inside = HasLine(w, row.top + ty) && IsInLine(row, at);
      CopyRow<kBytes>(i, offset, inside, to);
    }
  }

  LE_DEVICE void CopyPixel(int depth, uint32_t to) const {
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      CopyRow<16>(i, static_cast<uintptr_t>(depth) * sizeof(float), IsInLine(rows_[i], depth), to);
    }
  }

  LE_DEVICE void CopyFew(int depth, uint32_t to) const {
    const ImageWindow& w = a_.window;
    const int line = 3 * w.channels;
    const int ty = (depth >= line ? 1 : 0) + (depth >= 2 * line ? 1 : 0);
    const auto offset = static_cast<uint32_t>((w.in_width * w.channels - line) * ty + depth) *
                        static_cast<uint32_t>(sizeof(float));
    LE_UNROLL
    for (int i = 0; i < kRows; ++i) CopyRow<4>(i, offset, few_[i] >> depth & 1u, to);
  }

  LE_DEVICE static bool IsInLine(const TapLines& row, int at) {
    return static_cast<unsigned>(at - row.begin) < static_cast<unsigned>(row.count);
  }

  template <int kBytes>
  LE_DEVICE void CopyRow(int i, uintptr_t offset, bool inside, uint32_t to) const {
    CopyAsync<kBytes>(to + static_cast<uint32_t>(i * kApart * kConvPitch) * sizeof(float),
                      reinterpret_cast<const void*>(rows_[i].first + offset), inside ? kBytes : 0);
  }

  const Conv2dArgs& a_;
  TapCopies copies_;
  TapLines rows_[kRows];
  uint32_t few_[kRows];
};

// Finishes the sums of a block, kCount channels for each thread at a time. If the program makes
// bits, the threads of a word of channels are in one warp, so that a narrow tile needs more
// threads.
template <int kCount, int kPixels, int kChannels, int kThreads>
LE_DEVICE void FinishTile(const Conv2dArgs& a, const float* sums, int row_floats,
                          int64_t first_pixel, int first_channel) {
  constexpr int kLanes = kChannels / kCount;  // threads of a pixel
  static_assert(kPixels * kLanes % kThreads == 0);
  const bool is_narrow = kChannels < kWarp && a.program.bits != nullptr;
  const int lanes = is_narrow ? kWarp / kCount : kLanes;
  for (int i = static_cast<int>(threadIdx.x); i < kPixels * lanes; i += kThreads) {
    const int row = is_narrow ? i / (kWarp / kCount) : i / kLanes;
    const int channel = (i - row * lanes) * kCount;
    const int64_t pixel = first_pixel + row;
    const bool inside = pixel < OutPixels(a.window) && first_channel + channel < a.out_channels;
    FinishValues(a.program, LoadValues<kCount>(sums + row * row_floats + channel),
                 {pixel, first_channel + channel, inside}, a.out_channels);
  }
}

// Computes a tile of the output. `Left` fills the left tile from `source`.
template <int kPixels, int kChannels, int kStages, template <int, int> class Left, class Source>
LE_DEVICE void MultiplyTile(const Conv2dArgs& a, const Source& source) {
  constexpr int kThreads = kPixels * kChannels / 16;
  constexpr int kColumns = kChannels / 4;  // columns of threads, each with 4 pixels and 4 channels
  constexpr int kLines = kPixels / 4;
  constexpr int kStageFloats = (kPixels + kChannels) * kConvPitch;
  // Copies bring 4 floats. A row of a step has 4 of them, and a thread always copies the same one.
  constexpr int kPixelCopies = kPixels * 4 / kThreads;
  constexpr int kFilterCopies = (kChannels * 4 + kThreads - 1) / kThreads;
  static_assert(kPixels * 4 % kThreads == 0 && kThreads % kWarp == 0 && kChannels % 16 == 0);

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
  // The code of copies is long, so the loop is not unrolled.
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

  // The sums go through shared memory, so that a thread gets several channels of a pixel.
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
