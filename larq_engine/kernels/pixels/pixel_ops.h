// The contract of everything but the product: what happens to values pixel after pixel. There is
// one row for each ISA. The rows agree bit for bit, because every float operation is done
// separately and in the order written here (no contraction). tests/kernels/pixel_ops_test.cc runs
// every row.
//
// This header has plain data and plain functions only: an ISA's file shares no code with others. In
// the float operations `in` and `out` may be the same memory; otherwise they never overlap. They
// need only the alignment of their elements. Nothing is read or written outside the given rows.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/kernels/common/value_functions.h"

namespace larq_engine {

// Describes what floats y become as they are written: clamp(prelu(y * gate) + addend), where each
// operation is that of its own function below.
struct ResidualSum {
  // If null, y is written unchanged. Its rows lie as the rows of the outputs do, and may be the
  // same memory.
  const float* addend = nullptr;
  // Both are null, for clamp(y + addend), or both have one value a channel.
  const float* gate = nullptr;
  const float* slopes = nullptr;
  FloatRange range = {.min = -std::numeric_limits<float>::infinity(),
                      .max = std::numeric_limits<float>::infinity()};
};

// The accumulators of a product and the values that they become; output_transform.h has the
// arithmetic.
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

// Describes sums or products of pairs of int8 values. A sum is one of integers, shifted down,
// halves up; a product is multiplied by a float, halves to even.
struct Int8Pairs {
  int32_t zero_points[2];  // of the operands
  int32_t of_step[2];      // sums: what a step of each operand is worth
  int shift;               // sums: at least 1
  float multiplier;        // products
  FloatRange range;        // whole numbers, without the zero point
  int32_t zero_point;
};

struct PixelOps {
  // acc += in << shift, for values that fit. So the products of planes add up to the product of the
  // values.
  void (*add_shifted)(const int32_t* in, size_t count, int shift, int32_t* acc);

  void (*to_float)(const TransformArgs& args);
  void (*to_int8)(const TransformArgs& args);
  void (*to_bits)(const TransformArgs& args);

  // Rounds sums of int8 values, which are dense, as int8_output.h says; there is a multiplier for
  // each sum.
  void (*round_sums)(const int32_t* sums, const float* multipliers, size_t count, FloatRange range,
                     int32_t zero_point, int8_t* out);

  // Rounds in[i] * steps as int8_output.h says. NaN becomes the greatest value, as on x86.
  void (*round_floats)(const float* in, size_t count, float steps, FloatRange range,
                       int32_t zero_point, int8_t* out);

  // sums[i] += values[tap][i] * weights[tap][i] for each tap; sums wrap. `pairs_fit`: the sum of
  // two products fits in 16 bits, as it does if no weight is -128.
  void (*add_int8_products)(const int8_t* const* values, const int8_t* const* weights, size_t taps,
                            bool pairs_fit, size_t count, int32_t* sums);
  // Computes the sums of windows of 3 x 3 taps for pixels of a line, whose windows begin `step`
  // columns after each other:
  //   sums[pixel][c] = bias[c] + sum of lines[y][(pixel * step + x) * channels + c] *
  //                              weights[(3 * y + x) * channels + c]
  // Sums wrap. Null where the loop above is as fast.
  void (*sum_int8_windows)(const int8_t* const* lines, const int8_t* weights, const int32_t* bias,
                           size_t pixels, size_t step, size_t channels, int32_t* sums);
  // The maximum of one or more taps. The first one may be `out`.
  void (*max_int8)(const int8_t* const* taps, size_t tap_count, size_t count, int8_t* out);
  void (*add_int8)(const Int8Pairs& pairs, const LineOperand& a, const LineOperand& b, size_t count,
                   int8_t* out);
  void (*multiply_int8)(const Int8Pairs& pairs, const LineOperand& a, const LineOperand& b,
                        size_t count, int8_t* out);

  // LceQuantize and LceDequantize of dense values. The sign of a value is -1 exactly if it is
  // smaller than zero (int8: than the zero point). So -0.0 is +1, as in TensorFlow, and NaN is +1,
  // because no comparison with it holds. A bool is +1 if true, and any byte but 0 is true. When
  // bits are unpacked, `plus` and `minus` are the values that +1 and -1 become.
  void (*bitpack_float)(const float* in, size_t rows, size_t channels, uint32_t* out);
  // Quantizes values that went through a monotone function of each channel. A value, whose sign is
  // turned if `signs` has the top bit (no other may be set), is -1 exactly if it is smaller than
  // the channel's limit. NaN is +1. There are `out_stride` words from one row's words to the next;
  // rows may have gaps between them only if they are whole words.
  void (*bitpack_float_limits)(const float* in, const float* limits, const uint32_t* signs,
                               size_t rows, size_t channels, uint32_t* out, size_t out_stride);
  void (*bitpack_int8)(const int8_t* in, size_t rows, size_t channels, int32_t zero_point,
                       uint32_t* out);
  void (*bitpack_bool)(const uint8_t* in, size_t rows, size_t channels, uint32_t* out);
  void (*unpack_float)(const uint32_t* in, size_t rows, size_t channels, float* out);
  void (*unpack_int8)(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                      int8_t* out);
  void (*unpack_bool)(const uint32_t* in, size_t rows, size_t channels, uint8_t* out);

  // Max pooling: the maximum of one or more taps, of packed +-1 values and of floats. A greater
  // value replaces the one before; a NaN is not greater than any value, and no value is greater
  // than a NaN. The first tap may be `out`.
  void (*max_bits)(const uint32_t* const* taps, size_t tap_count, size_t words, uint32_t* out);
  void (*max_float)(const float* const* taps, size_t tap_count, size_t count, float* out);
  // Computes the maximum of products with one factor for each value; no tap may be `out`.
  void (*max_products)(const float* const* taps, size_t tap_count, const float* factors,
                       size_t count, float* out);

  // Average pooling: adds up one or more taps, from 0 on and in order, and divides by `divisor`.
  // The first tap may be `out`, which then holds the sum of earlier taps.
  void (*average)(const float* const* taps, size_t tap_count, size_t count, float divisor,
                  float* out);

  // Computes a row of a dense layer: for each unit the sum of in[d] * weights[d][unit], from 0 on
  // and in order. `out` must not be one of the inputs.
  void (*dense)(const float* in, const float* weights, size_t depth, size_t units, float* out);

  // out = clamp(a op b)
  void (*add)(const float* a, const float* b, size_t count, FloatRange range, float* out);
  void (*multiply)(const float* a, const float* b, size_t count, FloatRange range, float* out);
  // The same with one value of b a channel, for each row.
  void (*add_channels)(const float* a, const float* b, size_t rows, size_t channels,
                       FloatRange range, float* out);
  void (*multiply_channels)(const float* a, const float* b, size_t rows, size_t channels,
                            FloatRange range, float* out);
  void (*clamp)(const float* in, size_t count, FloatRange range, float* out);
  // in < 0 ? in * slope : in, with one slope a channel.
  void (*prelu)(const float* in, const float* slopes, size_t rows, size_t channels, float* out);

  // Computes (byte - zero_point) * scale, which is rounded once. `out` must not be the input.
  void (*scale_uint8)(const uint8_t* in, size_t count, int32_t zero_point, float scale, float* out);
  void (*scale_int8)(const int8_t* in, size_t count, int32_t zero_point, float scale, float* out);

  // Computes the softmax of each row: exp(beta * (x - the greatest x)), or with a negative beta the
  // least x, divided by the sum over the row. pixel_ops_exp.h has the exponential function, its
  // error and the order of the sum. A row with a NaN, or whose greatest x is infinite, becomes NaN.
  void (*softmax)(const float* in, size_t rows, size_t channels, float beta, float* out);
  // Computes 1 / (1 + exp(-x)). The error is at most 3 * 2^-23 of the result, and below -87, where
  // the result is 0, 2^-125.
  void (*logistic)(const float* in, size_t count, float* out);

  // Adds up each row's values, in the order that pixel_ops_exp.h has for softmax.
  void (*sum)(const float* in, size_t rows, size_t channels, float* out);

  // Return the loop of a function of floats; null for those that kernels/layers has: comparisons,
  // signs, and functions that need a library.
  PairLoop (*pair_loop)(PairFunction function);
  ValueLoop (*value_loop)(ValueFunction function);
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_H_
