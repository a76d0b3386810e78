// What the kernels of a binary convolution are given. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/tensor_map.h"

namespace larq_engine::cuda {

// From acc, the bits that differ, by kernels/output_transform.h: dot = depth - 2 * acc.
struct Bconv2dOutput {
  enum Kind : int32_t { kFloat, kInt8, kBits };
  Kind kind;
  int32_t dot_min;  // float and int8: clamps before the multiplier
  int32_t dot_max;
  const float* multiplier;  // float and int8: [out_channels], like the rest
  const float* bias;
  int32_t zero_point;        // int8
  const int32_t* dot_limit;  // bits
  int8_t* int8;              // [pixels][out_channels]
  uint32_t* bits;            // [pixels][words of out_channels]; kBits only
  PixelProgram after;        // float
};

struct Bconv2dArgs {
  // [batch][in_height][in_width][pixel_words]; a pixel has its planes one after the other, each of
  // plane_words.
  const uint32_t* image;
  // [bits_weights][out_channels][filter_words]: taps in order, each of tap_words, then zeros up to
  // a multiple of 16 words.
  const uint32_t* filter;
  // [out_channels]: counted as often as their planes and those of the image do, as in
  // kernels/corner_ones.h.
  const int32_t* filter_ones;
  // Unless taps outside count +1, which is bits of 0: see kernels/corner_ones.h.
  const int32_t* corner_ones;
  int32_t pad_value;  // +1, 0, -1

  int32_t batch, in_height, in_width, pixel_words;
  int32_t out_height, out_width, out_channels;
  int32_t group_out_channels, tap_words, filter_words;
  int32_t filter_height, filter_width;
  int32_t stride_height, stride_width, dilation_height, dilation_width;
  int32_t pad_top, pad_left;
  int32_t tap_dot;  // the most that a tap's products add up to
  // Of values and weights: see bconv2d_planes.h.
  int32_t bits_in = 1;
  int32_t bits_weights = 1;
  int32_t plane_words;
  Bconv2dOutput output;
};

// Of a kernel that lets the chip copy. See bconv2d_maps.h.
struct Bconv2dTmaArgs {
  TensorMap image;
  TensorMap filter;
  Bconv2dArgs layer;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_
