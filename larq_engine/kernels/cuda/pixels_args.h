// The arguments of the kernels that go through tensors value by value. Plain data.
#ifndef LARQ_ENGINE_KERNELS_CUDA_PIXELS_ARGS_H_
#define LARQ_ENGINE_KERNELS_CUDA_PIXELS_ARGS_H_

#include <cstdint>

#include "larq_engine/kernels/cuda/divisor.h"
#include "larq_engine/kernels/cuda/image_window.h"
#include "larq_engine/kernels/cuda/pixel_program.h"

namespace larq_engine::cuda {

// Functions of one value: see ValueOf in pixels.h.
enum class UnaryFunction : int32_t { kNone, kLogistic };

// Arguments of a kernel that runs `program` on one of `floats`, `bits` and `bytes`; the others are
// null. Bits stand for +-1, and bytes for (byte - zero_point) * scale.
struct PixelsArgs {
  const float* floats;   // [pixels][channels]
  const uint32_t* bits;  // [pixels][words of the channels]
  const uint8_t* bytes;  // [pixels][channels]
  int64_t pixels;
  int32_t channels;
  Divisor lanes;           // threads of a pixel: see pixel_rows.h
  UnaryFunction function;  // the program runs on its values
  int32_t bytes_are_signed;
  int32_t zero_point;
  float scale;
  PixelProgram program;
};

// Packs bytes to bits. With one plane, a value is -1 where the int8 is below `limit` or, for bools,
// where the bool is false. With eight planes, plane j is -1 where bit j of the byte is 0.
struct PackBytesArgs {
  const int8_t* in;  // [pixels][channels]
  int64_t pixels;
  int32_t channels;
  int32_t planes;  // 1 or 8
  int32_t is_bool;
  int32_t limit;
  uint32_t* out;  // [pixels][planes][words of the channels]
};

// Unpacks bits to bytes. The arguments say which bytes +1 and -1 become.
struct UnpackBytesArgs {
  const uint32_t* in;
  int64_t pixels;
  int32_t channels;
  int32_t plus;
  int32_t minus;
  int8_t* out;
};

inline constexpr int kMaxBroadcastDims = 6;

// Sum or product of two tensors with TFLite's broadcasting, clamped.
struct BroadcastArgs {
  const float* operands[2];
  int32_t multiplies;
  float min;
  float max;
  int64_t count;  // of values
  Divisor dims[kMaxBroadcastDims];
  int64_t strides[2][kMaxBroadcastDims];  // 0 where an operand is repeated
  float* out;
};

// Copies a tensor's channels to their place among another tensor's. Units are bytes or words.
struct CopyChannelsArgs {
  const void* in;
  void* out;
  int64_t pixels;
  int32_t unit_bytes;  // 1 or 4
  Divisor in_units;    // units of a pixel
  int32_t out_units;
  int32_t first_unit;  // in the output's pixel
};

// Pools bits into bits_out, or pools floats and passes the results to `program`.
struct PoolArgs {
  const uint32_t* bits;
  const float* floats;
  ImageWindow window;
  Divisor lanes;  // threads of a pixel: one for each word of bits; for floats see pixel_rows.h
  uint32_t* bits_out;
  PixelProgram program;
};

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_PIXELS_ARGS_H_
