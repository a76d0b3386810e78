// The contract of everything but the product: what happens to values pixel after pixel. One row for
// each ISA; the rows agree bit for bit, because every float operation is done alone and in the
// order written here (no contraction). tests/kernels/pixel_ops_test.cc runs every row.
//
// Plain data and plain functions: an ISA's file shares no code with others. `in` and `out` may be
// the same memory in the float operations, never overlap otherwise, and need only the alignment of
// their elements. Nothing is read or written outside the rows given.
#ifndef LARQ_ENGINE_KERNELS_PIXEL_OPS_H_
#define LARQ_ENGINE_KERNELS_PIXEL_OPS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "larq_engine/kernels/float_range.h"

namespace larq_engine {

// What floats y become on their way out: clamp(prelu(y * gate) + addend), each operation as its own
// function below has it.
struct ResidualSum {
  // Null: y stays. Its rows lie as the outputs', perhaps where they do.
  const float* addend = nullptr;
  // Both null, for clamp(y + addend); or both one a channel.
  const float* gate = nullptr;
  const float* slopes = nullptr;
  FloatRange range = {.min = -std::numeric_limits<float>::infinity(),
                      .max = std::numeric_limits<float>::infinity()};
};

// Accumulators of a product and what they become; see output_transform.h for the arithmetic.
struct TransformArgs {
  size_t rows;
  size_t channels;
  const int32_t* acc;  // [rows][acc_stride]
  size_t acc_stride;
  const int32_t* depth;      // [rows]: the dot product of accumulators that are 0
  const float* multiplier;   // float and int8: one a channel, like the rest
  const float* bias;         // float and int8
  int32_t dot_min;           // float and int8
  int32_t dot_max;           // float and int8
  int32_t zero_point;        // int8
  const int32_t* dot_limit;  // bits
  void* out;                 // [rows], of float, int8, or words whose tail bits become 0
  size_t out_stride;         // bytes from one row to the next
  ResidualSum sum = {};      // float
};

struct PixelOps {
  // acc += in << shift, of values that fit: the products of planes add up to those of their sums.
  void (*add_shifted)(const int32_t* in, size_t count, int shift, int32_t* acc);

  void (*to_float)(const TransformArgs& args);
  void (*to_int8)(const TransformArgs& args);
  void (*to_bits)(const TransformArgs& args);

  // Sums of int8 values, dense, as int8_output.h has them; a multiplier for each.
  void (*round_sums)(const int32_t* sums, const float* multipliers, size_t count, FloatRange range,
                     int32_t zero_point, int8_t* out);

  // LceQuantize and LceDequantize, dense. The sign of a value is -1 exactly when it is smaller than
  // zero (int8: than the zero point). So -0.0 is +1, as in TensorFlow, and NaN is +1, because no
  // comparison with it holds. A bool is +1 if true, and any byte but 0 is true. To unpack, `plus`
  // and `minus` are what +1 and -1 become.
  void (*bitpack_float)(const float* in, size_t rows, size_t channels, uint32_t* out);
  // Quantizes what is monotone in each channel: a value, its sign turned where `signs` has the top
  // bit (and no other), is -1 exactly when it is smaller than the channel's limit. NaN is +1. From
  // one row's words to the next are `out_stride`; only rows of whole words may be apart.
  void (*bitpack_float_limits)(const float* in, const float* limits, const uint32_t* signs,
                               size_t rows, size_t channels, uint32_t* out, size_t out_stride);
  void (*bitpack_int8)(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                       uint32_t* out);
  void (*bitpack_bool)(const uint8_t* in, size_t rows, size_t channels, uint32_t* out);
  void (*unpack_float)(const uint32_t* in, size_t rows, size_t channels, float* out);
  void (*unpack_int8)(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                      int8_t* out);
  void (*unpack_bool)(const uint32_t* in, size_t rows, size_t channels, uint8_t* out);

  // Max pooling: the maximum of one or more taps, of packed +-1 values and of floats (what is
  // greater replaces what came before; a NaN is not, and nothing is greater than one). The first
  // tap may be `out`.
  void (*max_bits)(const uint32_t* const* taps, size_t tap_count, size_t words, uint32_t* out);
  void (*max_float)(const float* const* taps, size_t tap_count, size_t count, float* out);
  // The maximum of products with one factor a value; no tap is `out`.
  void (*max_products)(const float* const* taps, size_t tap_count, const float* factors,
                       size_t count, float* out);

  // Average pooling: the sum of one or more taps, from 0 on and in order, by `divisor`. The first
  // tap may be `out`, a sum of taps before.
  void (*average)(const float* const* taps, size_t tap_count, size_t count, float divisor,
                  float* out);

  // A row of a dense layer: for each unit the sum of in[d] * weights[d][unit], from 0 on and in
  // order. `out` is none of the others.
  void (*dense)(const float* in, const float* weights, size_t depth, size_t units, float* out);

  // out = clamp(a op b)
  void (*add)(const float* a, const float* b, size_t count, FloatRange range, float* out);
  void (*multiply)(const float* a, const float* b, size_t count, FloatRange range, float* out);
  // The same with one b a channel, for each row.
  void (*add_channels)(const float* a, const float* b, size_t rows, size_t channels,
                       FloatRange range, float* out);
  void (*multiply_channels)(const float* a, const float* b, size_t rows, size_t channels,
                            FloatRange range, float* out);
  void (*clamp)(const float* in, size_t count, FloatRange range, float* out);
  // in < 0 ? in * slope : in, one slope a channel.
  void (*prelu)(const float* in, const float* slopes, size_t rows, size_t channels, float* out);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXEL_OPS_H_
