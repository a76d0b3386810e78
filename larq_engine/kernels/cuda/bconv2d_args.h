// The arguments of the kernels of binary convolutions. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/divisor.h"
#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/sum_program.h"
#include "larq_engine/kernels/cuda/tensor_map.h"

namespace larq_engine::cuda {

// The output of a binary convolution. A kernel computes `excess`, the number of bits that differ
// between image and filter, less the ones of the filter. The dot product follows from it:
//   dot = zero_dot - 2 * excess
// by kernels/output_transform.h, where taps outside the image count as the padding says.
struct Bconv2dOutput {
  enum Kind : int32_t { kFloat, kInt8, kBits };
  // The code that makes the output. The host chooses it, and all values of a launch use the same.
  enum Epilogue : int32_t {
    kAny,        // any output: the steps of `after` are interpreted
    kThreshold,  // bits by excess_limit, if no tap is outside or those outside count +1
    kStore,      // floats, stored to sum.sum_out unchanged
    kSum,        // floats by `sum`, and their signs as `after` has the bits
  };
  Kind kind;
  Epilogue epilogue;
  int32_t dot_min;  // float and int8: clamps before the multiplier
  int32_t dot_max;
  const int32_t* zero_dot;  // [out_channels], like all arrays of channels below
  const float* multiplier;  // float and int8
  const float* bias;
  int32_t zero_point;           // int8
  const int32_t* dot_limit;     // bits: 1 where the dot product is smaller
  const int32_t* excess_limit;  // kThreshold: 1 where `excess` is greater
  int8_t* int8;                 // [pixels][out_channels]
  uint32_t* bits;               // [pixels][words of out_channels]; kBits only
  PixelProgram after;           // float
  SumProgram sum;               // kStore and kSum: the same steps as `after`
};

// The divisors by which kernels find the pixel, channel or tap that an index stands for.
struct Bconv2dDivisors {
  Divisor out_width;
  Divisor out_height;
  Divisor half_words;  // halves (16 channels) of a pixel's output words
  Divisor tap_words;
  Divisor filter_width;
  Divisor dilation_height;
  Divisor dilation_width;
};

struct Bconv2dArgs {
  // [batch][in_height][in_width][pixel_words]; the planes of a pixel, plane_words each, lie one
  // after the other.
  const uint32_t* image;
  // [bits_weights][out_channels][filter_words]: the taps in order, each of tap_words, then zeros up
  // to a multiple of 16 words.
  const uint32_t* filter;
  // [out_channels]: the ones of the filter, weighted by the planes of filter and image, as in
  // kernels/corner_ones.h. Only kernels that count the bits that differ read them.
  const int32_t* filter_ones;
  // The table of kernels/corner_ones.h; null if taps outside count +1, which is a bit of 0.
  const int32_t* corner_ones;
  int32_t pad_value;  // +1, 0, -1

  int32_t batch, in_height, in_width, pixel_words;
  int32_t out_height, out_width, out_channels;
  int32_t group_out_channels, tap_words, filter_words;
  int32_t filter_height, filter_width;
  int32_t stride_height, stride_width, dilation_height, dilation_width;
  int32_t pad_top, pad_left;
  int32_t tap_dot;  // the greatest sum of a tap's products
  // The numbers of bit planes of the image's values and of the weights: see bconv2d_planes.h.
  int32_t bits_in = 1;
  int32_t bits_weights = 1;
  int32_t plane_words;
  Bconv2dDivisors divisors;  // from DivisorsOf
  Bconv2dOutput output;
};

// The arguments of a kernel that copies by tensor maps. See bconv2d_rows.h.
struct Bconv2dTmaArgs {
  TensorMap image;
  TensorMap filter;
  Bconv2dArgs layer;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_BCONV2D_ARGS_H_
