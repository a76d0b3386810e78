// The functions of int8 values, in loops that compilers make vectors of. Everything here is
// internal to the file that includes it, as in pixel_ops_loops.h.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_BYTES_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "larq_engine/kernels/common/for_pairs.h"
#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"

namespace larq_engine {
namespace {

// A product of two int8 values fits in 16 bits, of which a vector holds twice as many as of 32.
inline int16_t Int8Product(int8_t a, int8_t b) { return static_cast<int16_t>(a * b); }

// Adds the products of kTaps taps to sums [first, last). Two of them are added in 16 bits.
template <size_t kTaps>
inline void AddProductsTo(const int8_t* const (&values)[kTaps],
                          const int8_t* const (&weights)[kTaps], size_t first, size_t last,
                          int32_t* __restrict sums) {
  for (size_t i = first; i < last; ++i) {
    auto sum = static_cast<uint32_t>(sums[i]);
    const auto add = [&sum](int product) {
      sum += static_cast<uint32_t>(static_cast<int16_t>(product));
    };
#pragma GCC unroll 16
    for (size_t t = 0; t + 2 <= kTaps; t += 2) {
      add(Int8Product(values[t][i], weights[t][i]) +
          Int8Product(values[t + 1][i], weights[t + 1][i]));
    }
    if (kTaps % 2 == 1) add(Int8Product(values[kTaps - 1][i], weights[kTaps - 1][i]));
    sums[i] = static_cast<int32_t>(sum);
  }
}

// Compilers compute the rest of a loop of any length one by one, so the loop ends in blocks.
template <size_t kTaps>
inline void AddTapProducts(const int8_t* const* values, const int8_t* const* weights, size_t count,
                           int32_t* sums) {
  const int8_t* x[kTaps];
  const int8_t* w[kTaps];
  for (size_t t = 0; t < kTaps; ++t) {
    x[t] = values[t];
    w[t] = weights[t];
  }
  size_t i = count / 32 * 32;
  AddProductsTo<kTaps>(x, w, 0, i, sums);
  for (; i + 16 <= count; i += 16) AddProductsTo<kTaps>(x, w, i, i + 16, sums);
  for (; i + 8 <= count; i += 8) AddProductsTo<kTaps>(x, w, i, i + 8, sums);
  for (; i < count; ++i) AddProductsTo<kTaps>(x, w, i, i + 1, sums);
}

// All taps of a window of 3 x 3 are added in one go; the loads and stores of sums count otherwise.
void AddInt8Products(const int8_t* const* values, const int8_t* const* weights, size_t taps,
                     bool pairs_fit, size_t count, int32_t* sums) {
  while (taps > 0) {
    size_t done = 1;
    if (!pairs_fit || taps == 1) {
      AddTapProducts<1>(values, weights, count, sums);
    } else if (taps < 9) {
      AddTapProducts<2>(values, weights, count, sums);
      done = 2;
    } else {
      AddTapProducts<9>(values, weights, count, sums);
      done = 9;
    }
    values += done;
    weights += done;
    taps -= done;
  }
}

void RoundFloats(const float* __restrict in, size_t count, float steps, FloatRange range,
                 int32_t zero_point, int8_t* __restrict out) {
  for (size_t i = 0; i < count; ++i) {
    const float value = in[i] * steps;
    out[i] = RoundToInt8(value < range.max ? value : range.max, range, zero_point);
  }
}

void MaxInt8(const int8_t* const* taps, size_t tap_count, size_t count, int8_t* out) {
  if (count > 0 && taps[0] != out) std::memcpy(out, taps[0], count);
  for (size_t t = 1; t < tap_count; ++t) {
    const int8_t* __restrict tap = taps[t];
    int8_t* __restrict most = out;
    for (size_t i = 0; i < count; ++i) most[i] = tap[i] > most[i] ? tap[i] : most[i];
  }
}

void AddInt8(const Int8Pairs& pairs, const LineOperand& a, const LineOperand& b, size_t count,
             int8_t* out) {
  const int32_t of_a = pairs.of_step[0], of_b = pairs.of_step[1];
  const int shift = pairs.shift;
  const auto lowest = static_cast<int32_t>(pairs.range.min);
  const auto highest = static_cast<int32_t>(pairs.range.max);
  const int32_t zero = pairs.zero_point;
  const int32_t start =
      (int32_t{1} << (shift - 1)) - pairs.zero_points[0] * of_a - pairs.zero_points[1] * of_b;
  const auto add = [=](int32_t x, int32_t y) {
    int32_t sum = (start + x * of_a + y * of_b) >> shift;
    sum = sum < lowest ? lowest : sum;
    sum = sum > highest ? highest : sum;
    return static_cast<int8_t>(sum + zero);
  };
  ForPairs<int8_t>(a, b, count, add, out);
}

void MultiplyInt8(const Int8Pairs& pairs, const LineOperand& a, const LineOperand& b, size_t count,
                  int8_t* out) {
  const int32_t zero_a = pairs.zero_points[0], zero_b = pairs.zero_points[1];
  const float multiplier = pairs.multiplier;
  const FloatRange range = pairs.range;
  const int32_t zero = pairs.zero_point;
  const auto multiply = [=](int32_t x, int32_t y) {
    const auto product = static_cast<float>((x - zero_a) * (y - zero_b));
    return RoundToInt8(product * multiplier, range, zero);
  };
  ForPairs<int8_t>(a, b, count, multiply, out);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_BYTES_H_
