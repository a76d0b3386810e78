// What the kernels of a binary convolution are given. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/divisor.h"
#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/sum_program.h"
#include "larq_engine/kernels/cuda/tensor_map.h"

namespace larq_engine::cuda {

// From the bits that differ, less the ones of the filter, which kernels call `more`:
//   dot = zero_dot - 2 * more
// by kernels/output_transform.h, where taps outside count as the padding says.
struct Bconv2dOutput {
  enum Kind : int32_t { kFloat, kInt8, kBits };
  // How a kernel makes it. The host chooses; a launch has one alone.
  enum Epilogue : int32_t {
    kAny,        // any output, by `after`, whose steps are interpreted
    kThreshold,  // bits by more_limit, if no tap is outside or those outside count +1
    kStore,      // floats, which go to sum.sum_out as they are
    kSum,        // floats by `sum`, and their signs by what `after` says of bits
  };
  Kind kind;
  Epilogue epilogue;
  int32_t dot_min;  // float and int8: clamps before the multiplier
  int32_t dot_max;
  const int32_t* zero_dot;  // [out_channels], like all that follows of channels
  const float* multiplier;  // float and int8
  const float* bias;
  int32_t zero_point;         // int8
  const int32_t* dot_limit;   // bits: 1 where the dot product is smaller
  const int32_t* more_limit;  // kThreshold: 1 where `more` is greater
  int8_t* int8;               // [pixels][out_channels]
  uint32_t* bits;             // [pixels][words of out_channels]; kBits only
  PixelProgram after;         // float
  SumProgram sum;             // kStore and kSum: the steps of `after` once more
};

// What kernels divide by to find places.
struct Bconv2dDivisors {
  Divisor out_width;
  Divisor out_height;
  Divisor half_words;  // of the output channels: of 16 each, and of whole words
  Divisor tap_words;
  Divisor filter_width;
  Divisor dilation_height;
  Divisor dilation_width;
};

struct Bconv2dArgs {
  // [batch][in_height][in_width][pixel_words]; a pixel has its planes one after the other, each of
  // plane_words.
  const uint32_t* image;
  // [bits_weights][out_channels][filter_words]: taps in order, each of tap_words, then zeros up to
  // a multiple of 16 words.
  const uint32_t* filter;
  // [out_channels]: counted as often as their planes and those of the image do, as in
  // kernels/corner_ones.h. For kernels whose products are bits that differ.
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
  Bconv2dDivisors divisors;  // by DivisorsOf
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
