// What the kernels of the host's float operators are given. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/divisor.h"
#include "larq_engine/kernels/cuda/image_window.h"
#include "larq_engine/kernels/cuda/pixel_program.h"

namespace larq_engine::cuda {

// A convolution of floats, or, as one of windows of a pixel, a dense layer. A sum begins with 0 and
// grows by fma(value, weight, sum) for the filter's lines, its columns and the channels in order;
// values outside the image are 0. The program does the rest, the bias too.
struct Conv2dArgs {
  const float* image;  // [batch][in_height][in_width][channels]
  // [out_channels][filter_row]: the depth, then -0.0 up to a multiple of kConvStep. What is outside
  // the depth so changes no sum: it adds 0 * -0.0, which is -0.0.
  const float* filter;
  int32_t filter_row;
  int32_t out_channels;
  ImageWindow window;
  Divisor line;           // values of a filter's line, which lie in the image one behind the other
  Divisor channel_tiles;  // of the kernel: see Conv2dRow
  PixelProgram program;
};

// The depth that tiles of a convolution take at a time.
inline constexpr int kConvStep = 16;
// Floats between rows of a tile in shared memory: rows that a warp reads together begin in
// different banks.
inline constexpr int kConvPitch = kConvStep + 4;

// Dynamic shared memory of a tile of the output, for `stages` steps of what it is made from.
constexpr uint32_t ConvSharedBytes(int pixels, int channels, int stages) {
  return static_cast<uint32_t>(stages * (pixels + channels) * kConvPitch) * sizeof(float);
}

// Each thread has 16 values of a tile.
constexpr uint32_t ConvThreads(int pixels, int channels) {
  return static_cast<uint32_t>(pixels * channels / 16);
}

// Each output channel from one channel of the image. The order is that of Conv2dArgs.
struct DepthwiseArgs {
  const float* image;
  const float* filter;  // [filter_height][filter_width][out_channels]
  int32_t out_channels;
  Divisor multiplier;  // output channels of a channel of the image
  ImageWindow window;
  Divisor lanes;  // of a pixel: see pixel_rows.h
  PixelProgram program;
};

// A depthwise convolution, with one output channel of each of the image, of what a pool leaves of
// the image: the greatest of windows that lie one beside the other's first pixel. The convolution's
// image is what is pooled, and its window is of the pooled image.
struct PooledDepthwiseArgs {
  ImageWindow pool;
  DepthwiseArgs conv;
};

// A depthwise convolution of 3x3 taps, with one output channel of each of the image, and of what
// its program, which stores nothing, makes of it a convolution with windows of a pixel.
struct DepthwisePointwiseArgs {
  DepthwiseArgs depthwise;
  Conv2dArgs pointwise;  // its image is not read
};

// Each output is the sum of all inputs of its row, each with the sign that the output's bit says (0
// is plus), in the order of kernels/signed_sums.h, times the output's scale. The program does the
// rest, the bias too.
struct SignedDenseArgs {
  const float* in;        // [rows][depth]
  const uint32_t* signs;  // [words of the depth][units, filled up to words]: bit i % 32 is input i
  const float* scale;     // [units]
  int64_t rows;
  int32_t depth;
  int32_t units;
  PixelProgram program;
};

// The same of int8 values, as kernels/signed_dense_output.h and kernels/int8_output.h have it. Sums
// are 32 bits and wrap.
struct SignedDenseInt8Args {
  const int8_t* in;       // [rows][depth]
  const uint32_t* signs;  // as above
  // Of each unit.
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

// Rows that a warp of either has: it reads a word of signs once for all of them.
inline constexpr int kSignedDenseRows = 4;

struct SoftmaxArgs {
  const float* in;  // [rows][count]
  float* out;
  int64_t rows;
  int32_t count;
  float beta;
};

// A box of values to its place in a larger one full of one value, or, of all dimensions, out of a
// larger one. Units are bytes or words.
inline constexpr int kMaxBoxDims = 6;
struct PadArgs {
  const void* in;
  void* out;
  int32_t unit_bytes;            // 1 or 4
  uint32_t around;               // what is outside the box, in the lowest bytes
  int64_t count;                 // of the output's values
  int32_t in_dims[kMaxBoxDims];  // 1 in front of those that there are
  Divisor out_dims[kMaxBoxDims];
  // What lies in front of the box in the output, or below 0 what is left out of the input.
  int32_t before[kMaxBoxDims];
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_FLOATS_ARGS_H_
