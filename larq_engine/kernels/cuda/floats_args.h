// The arguments of the kernels of the host's float operators. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/block_bounds.h"
#include "larq_engine/kernels/cuda/divisor.h"
#include "larq_engine/kernels/cuda/image_window.h"
#include "larq_engine/kernels/cuda/pixel_program.h"

namespace larq_engine::cuda {

// A convolution of floats; a dense layer is one with a 1x1 window. A sum begins with 0 and grows by
// fma(value, weight, sum) for the filter's lines, its columns and the channels in order; values
// outside the image are 0. The program does the rest, including the bias.
struct Conv2dArgs {
  const float* image;  // [batch][in_height][in_width][channels]
  // [out_channels][filter_row]: the weights in the order of the depth, then -0.0 up to a multiple
  // of kConvStep. The padding changes no sum: it adds 0 * -0.0, which is -0.0.
  const float* filter;
  int32_t filter_row;
  int32_t out_channels;
  ImageWindow window;
  Divisor line;           // values of a filter's line, which are contiguous in the image
  Divisor channel_tiles;  // tiles of the kernel: see Conv2dRow
  PixelProgram program;
};

// The depth of one step of a convolution's tile.
inline constexpr int kConvStep = 16;
// Floats from one row of a tile in shared memory to the next: rows that a warp reads together begin
// in different banks.
inline constexpr int kConvPitch = kConvStep + 4;

// Returns the dynamic shared memory of an output tile of `pixels` and `channels`, with `stages`
// steps of its inputs.
constexpr uint32_t ConvSharedBytes(int pixels, int channels, int stages) {
  return static_cast<uint32_t>(stages * (pixels + channels) * kConvPitch) * sizeof(float);
}

// Returns the bounds of a block of the same tile. Each thread has 16 values of the tile.
constexpr BlockBounds ConvBounds(int pixels, int channels, int stages, uint32_t blocks = 1) {
  return {.threads = static_cast<uint32_t>(pixels * channels / 16),
          .shared_bytes = ConvSharedBytes(pixels, channels, stages),
          .blocks = blocks};
}

// A depthwise convolution: each output channel comes from one channel of the image. Sums have the
// order of Conv2dArgs.
struct DepthwiseArgs {
  const float* image;
  const float* filter;  // [filter_height][filter_width][out_channels]
  int32_t out_channels;
  Divisor multiplier;  // output channels for each channel of the image
  ImageWindow window;
  Divisor lanes;  // threads of a pixel: see pixel_rows.h
  PixelProgram program;
};

// A max pool fused with the depthwise convolution that follows it, which has one output channel for
// each of the image and slides over the pooled image. conv.image is the image before the pool.
struct PooledDepthwiseArgs {
  ImageWindow pool;
  DepthwiseArgs conv;
};

// A depthwise convolution of 3x3 taps, with one output channel for each of the image, fused with
// the 1x1 convolution that follows it. The depthwise convolution's program stores nothing.
struct DepthwisePointwiseArgs {
  DepthwiseArgs depthwise;
  Conv2dArgs pointwise;  // its image is not read
};

// A dense layer of signs. Each output is the sum of all inputs of its row, with the sign that the
// output's bit gives to each (0 is plus), in the order of kernels/signed_sums.h, times the output's
// scale. The program does the rest, including the bias.
struct SignedDenseArgs {
  const float* in;        // [rows][depth]
  const uint32_t* signs;  // [words of the depth][units, padded to 32]: bit i % 32 is for input i
  const float* scale;     // [units]
  int64_t rows;
  int32_t depth;
  int32_t units;
  PixelProgram program;
};

// A dense layer of signs with int8 values, as in kernels/signed_dense_output.h and
// kernels/int8_output.h. Sums have 32 bits and wrap.
struct SignedDenseInt8Args {
  const int8_t* in;       // [rows][depth]
  const uint32_t* signs;  // as above
  // [units]
  const int32_t* weight;
  const int32_t* bias;
  const float* multiplier;
  float min;  // whole numbers, without the zero point
  float max;
  int32_t zero_point;
  int64_t rows;
  int32_t depth;
  int32_t units;
  int8_t* out;  // [rows][units]
};

// Rows that a warp of either dense layer computes: it reads a word of signs once for all of them.
inline constexpr int kSignedDenseRows = 4;

// Multiplies matrices of bits, as bmatmul_spec.h says. A pixel is a row of the output.
struct BmatmulArgs {
  const uint32_t* left;   // [pixels][words]
  const uint32_t* right;  // [matrices][columns][words]
  int64_t pixels;
  Divisor rows;  // of a matrix of the output
  int32_t columns;
  int32_t words;
  uint32_t last_word;  // its bits that count
  int32_t depth;
  float of_dot;
  float of_left;
  float of_right;
  float constant;
  PixelProgram program;
};

struct SoftmaxArgs {
  const float* in;  // [rows][count]
  float* out;
  int64_t rows;
  int32_t count;
  float beta;
};

// Copies a box of values to its place in a larger tensor that is otherwise full of one value, or
// cuts a box, in all dimensions, out of a larger tensor. Units are bytes or words.
inline constexpr int kMaxBoxDims = 6;
struct PadArgs {
  const void* in;
  void* out;
  int32_t unit_bytes;            // 1 or 4
  uint32_t around;               // the unit outside the box, in the lowest bytes
  int64_t count;                 // number of the output's values
  int32_t in_dims[kMaxBoxDims];  // filled up with 1 at the front
  Divisor out_dims[kMaxBoxDims];
  // The number of values in front of the box in the output; if negative, those that are left out of
  // the input.
  int32_t before[kMaxBoxDims];
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_
