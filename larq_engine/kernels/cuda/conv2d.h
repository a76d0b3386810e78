// Convolution of floats as a product of matrices whose left one is never made: a block computes a
// tile of output pixels and channels, and copies the taps and weights of a few steps of the depth
// ahead. Every tile sums in the order of Conv2dArgs, so that results do not depend on it.
#ifndef LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_
#define LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/image_taps.h"
#include "larq_engine/kernels/cuda/pixel_steps.h"
#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

struct alignas(16) Float4 {
  float v[4];
};

// A place in the depth.
struct FloatPlace {
  int ty;
  int tx;
  int channel;
};

LE_DEVICE void Advance(const ImageWindow& w, FloatPlace& place, int by) {
  place.channel += by;
  while (place.channel >= w.channels) {
    place.channel -= w.channels;
    if (++place.tx == w.filter_width) {
      place.tx = 0;
      ++place.ty;
    }
  }
}

// What there is of an output pixel to the place of the depth; null outside image and depth.
LE_DEVICE const float* FindTap(const Conv2dArgs& a, const WindowStart& start,
                               const FloatPlace& place) {
  if (place.ty >= a.window.filter_height) return nullptr;
  const int64_t pixel = TapPixel(a.window, start, place.ty, place.tx);
  return pixel < 0 ? nullptr : a.image + pixel * a.window.channels + place.channel;
}

template <int kBytes>
LE_DEVICE void CopyOrClear(const Conv2dArgs& a, uint32_t to, const float* from) {
  CopyAsync<kBytes>(to, from == nullptr ? a.image : from, from == nullptr ? 0 : kBytes);
}

// Four values of the depth of an output pixel.
LE_DEVICE void CopyTaps(const Conv2dArgs& a, const WindowStart& start, FloatPlace place,
                        uint32_t to) {
  if (a.window.channels % 4 == 0) return CopyOrClear<16>(a, to, FindTap(a, start, place));
  for (int i = 0; i < 4; ++i) {
    CopyOrClear<4>(a, to + 4 * static_cast<uint32_t>(i), FindTap(a, start, place));
    Advance(a.window, place, 1);
  }
}

template <int kPixels, int kChannels, int kStages>
LE_DEVICE void Conv2d(const Conv2dArgs& a) {
  constexpr int kThreads = kPixels * kChannels / 16;
  constexpr int kColumns = kChannels / 4;  // of threads: each has 4 pixels and 4 channels
  constexpr int kLines = kPixels / 4;
  constexpr int kStageFloats = (kPixels + kChannels) * kConvPitch;
  // Copies of 4 floats: a thread begins with one of the 4 of a row, and always has the same.
  constexpr int kPixelCopies = kPixels * 4 / kThreads;
  static_assert(kPixels * 4 % kThreads == 0 && kThreads % kWarp == 0 && kChannels % kWarp == 0);

  LE_SHARED_DYNAMIC(shared);
  auto* const stages = reinterpret_cast<float*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const int channel_tiles = (a.out_channels + kChannels - 1) / kChannels;
  const int64_t first_pixel = static_cast<int64_t>(blockIdx.x) / channel_tiles * kPixels;
  const int first_channel =
      static_cast<int>(static_cast<int64_t>(blockIdx.x) % channel_tiles) * kChannels;
  const int64_t pixels = OutPixels(a.window);

  const int part = thread % 4;
  WindowStart starts[kPixelCopies];
  LE_UNROLL
  for (int i = 0; i < kPixelCopies; ++i) {
    const int64_t pixel = first_pixel + thread / 4 + i * (kThreads / 4);
    // Outside the output all taps lie above the image.
    starts[i] = pixel < pixels ? StartOfWindow(a.window, pixel)
                               : WindowStart{0, -a.window.filter_height, 0};
  }
  FloatPlace place{0, 0, 0};
  Advance(a.window, place, 4 * part);

  const int steps = a.filter_row / kConvStep;
  int next = 0;  // the step that is copied next
  const auto copy = [&] {
    if (next < steps) {
      float* const stage = stages + next % kStages * kStageFloats;
      LE_UNROLL
      for (int i = 0; i < kPixelCopies; ++i) {
        const int row = thread / 4 + i * (kThreads / 4);
        CopyTaps(a, starts[i], place, SharedAddress(stage + row * kConvPitch + 4 * part));
      }
      for (int row = thread / 4; row < kChannels; row += kThreads / 4) {
        const int channel = first_channel + row;
        const bool inside = channel < a.out_channels;
        const float* from = a.filter + (inside ? static_cast<int64_t>(channel) * a.filter_row : 0) +
                            next * kConvStep + 4 * part;
        CopyAsync<16>(SharedAddress(stage + (kPixels + row) * kConvPitch + 4 * part), from,
                      inside ? 16 : 0);
      }
      Advance(a.window, place, kConvStep);
      ++next;
    }
    CommitCopies();
  };
  for (int i = 0; i < kStages - 1; ++i) copy();

  const int line = thread / kColumns;
  const int column = thread % kColumns;
  float sums[4][4] = {};
  for (int step = 0; step < steps; ++step) {
    WaitCopies<kStages - 2>();
    __syncthreads();  // copies of all threads are there, and the stage before is read
    copy();
    const float* const stage = stages + step % kStages * kStageFloats;
    LE_UNROLL
    for (int k = 0; k < kConvStep; k += 4) {
      Float4 x[4];
      Float4 w[4];
      LE_UNROLL
      for (int i = 0; i < 4; ++i) {
        x[i] = *reinterpret_cast<const Float4*>(stage + (line + i * kLines) * kConvPitch + k);
        w[i] = *reinterpret_cast<const Float4*>(stage +
                                                (kPixels + column + i * kColumns) * kConvPitch + k);
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

  // Through shared memory, so that a warp gets 32 channels of a pixel.
  constexpr int kRow = kChannels + 1;
  static_assert(kPixels * kRow <= kStages * kStageFloats);
  LE_UNROLL
  for (int i = 0; i < 4; ++i) {
    LE_UNROLL
    for (int j = 0; j < 4; ++j) {
      stages[(line + i * kLines) * kRow + column + j * kColumns] = sums[i][j];
    }
  }
  __syncthreads();
  constexpr int kWords = kChannels / kWarp;
  const int lane = thread % kWarp;
  for (int i = thread / kWarp; i < kPixels * kWords; i += kThreads / kWarp) {
    const int64_t pixel = first_pixel + i / kWords;
    const int channel = first_channel + i % kWords * kWarp;
    if (pixel >= pixels || channel >= a.out_channels) continue;
    FinishWord(a.program, stages[i / kWords * kRow + i % kWords * kWarp + lane], pixel,
               channel / kWarp, lane, a.out_channels, channel + lane < a.out_channels);
  }
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_CONV2D_H_
