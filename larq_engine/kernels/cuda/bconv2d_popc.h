// Binary convolution with one thread for each value and without tensor cores. It runs every layer
// on every chip. A warp computes 32 channels of a pixel.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_POPC_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_POPC_H_

#include "larq_engine/kernels/cuda/bconv2d_output.h"

namespace larq_engine::cuda {

// Returns the number of bits that differ at an output pixel, less the ones of the filter, where
// taps outside have bits of 0.
LE_DEVICE int32_t ExcessOfBitsThatDiffer(const Bconv2dArgs& a, int64_t image, int row, int column,
                                         int channel) {
  const int left = column * a.stride_width - a.pad_left;
  const int top = row * a.stride_height - a.pad_top;
  const int first_word = channel / a.group_out_channels * a.tap_words;
  const uint32_t* filter = a.filter + static_cast<int64_t>(channel) * a.filter_words;
  int32_t sum = 0;
  const int64_t filter_plane = static_cast<int64_t>(a.out_channels) * a.filter_words;
  for (int ty = 0; ty < a.filter_height; ++ty) {
    const int y = top + ty * a.dilation_height;
    for (int tx = 0; tx < a.filter_width; ++tx, filter += a.tap_words) {
      const int x = left + tx * a.dilation_width;
      if (y < 0 || y >= a.in_height || x < 0 || x >= a.in_width) continue;
      const uint32_t* pixel =
          a.image + ((image * a.in_height + y) * a.in_width + x) * a.pixel_words + first_word;
      for (int i = 0; i < a.bits_in; ++i) {
        for (int j = 0; j < a.bits_weights; ++j) {
          const uint32_t* p = pixel + i * a.plane_words;
          const uint32_t* f = filter + j * filter_plane;
          // ones(p xor f) = ones(f) + ones(p) - 2 ones(p and f)
          int32_t excess = 0;
          for (int w = 0; w < a.tap_words; ++w) excess += __popc(p[w] ^ f[w]) - __popc(f[w]);
          sum += excess * (1 << (i + j));
        }
      }
    }
  }
  return sum;
}

LE_DEVICE void Bconv2dPopc(const Bconv2dArgs& a) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int words = (a.out_channels + kWarp - 1) / kWarp;
  const int64_t at = static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  const int64_t index = at / words;
  const int channel = static_cast<int>(at % words) * kWarp + lane;
  if (index >= static_cast<int64_t>(a.batch) * a.out_height * a.out_width) return;  // whole warps

  const bool inside = channel < a.out_channels;
  int32_t excess[1] = {0};
  if (inside) {
    excess[0] =
        ExcessOfBitsThatDiffer(a, index / (static_cast<int64_t>(a.out_width) * a.out_height),
                               static_cast<int>(index / a.out_width % a.out_height),
                               static_cast<int>(index % a.out_width), channel);
  }
  FinishWords(a, index, 1, static_cast<int>(at % words), lane, inside, excess);
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_POPC_H_
