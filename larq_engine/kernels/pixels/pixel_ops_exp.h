// Softmax, the logistic function and sums of PixelOps, in loops for compilers. Everything here is
// internal to the file that includes it, as in pixel_ops_loops.h.
//
// A loop computes kExpLanes values at a time, whatever the vectors of the ISA are: so the sums of
// all ISAs have one order.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_EXP_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_EXP_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace larq_engine {
namespace {

inline constexpr size_t kExpLanes = 16;

// Returns one of two values. The choice is made by bits, because otherwise the compiler would
// branch.
inline float Chosen(bool first, float a, float b) {
  const uint32_t mask = first ? ~0u : 0u;
  return __builtin_bit_cast(
      float, (__builtin_bit_cast(uint32_t, a) & mask) | (__builtin_bit_cast(uint32_t, b) & ~mask));
}

// exp(x) is 2^n * exp(r), where n is x / log(2), rounded, and r = x - n * log(2).
struct SplitExponent {
  uint32_t n_bits;  // n plus the bits of kRounds
  float r;
};

// Added to a small number, it leaves no bits for a fraction: the lowest bits are the number.
inline constexpr float kRounds = 0x1.8p23f;

// The upper part of log(2) has 15 bits, so that its products with exponents are exact.
inline constexpr float kLog2Upper = 0x1.62e4p-1f;
inline constexpr float kLog2Lower = 0x1.7f7d1cp-20f;

inline SplitExponent Split(float x) {
  const float rounded = x * 0x1.715476p0f + kRounds;
  const float n = rounded - kRounds;
  return {.n_bits = __builtin_bit_cast(uint32_t, rounded),
          .r = (x - n * kLog2Upper) - n * kLog2Lower};
}

// Returns (exp(r) - 1) / r by the terms of the series up to r^7 / 7!. As |r| is at most log(2) / 2,
// the next one is 5e-9.
inline float ExpSeries(float r) {
  float y = 1.0f / 5040;
  y = y * r + 1.0f / 720;
  y = y * r + 1.0f / 120;
  y = y * r + 1.0f / 24;
  y = y * r + 1.0f / 6;
  y = y * r + 0.5f;
  return y * r + 1.0f;
}

// Returns 2^n for n from -126 to 127, of which `n_bits` has the lowest 8 bits.
inline float PowerOf2(uint32_t n_bits) {
  constexpr uint32_t kOne = 0x3f800000;
  return __builtin_bit_cast(float, (n_bits << 23) + kOne);
}

// Computes exp(x) for x <= 0, with an error of at most 2^-23 of the result. Below -87, where
// results come near the smallest normal float, 2^-126, it is 0. NaN stays.
inline float ExpOfNegative(float x) {
  const SplitExponent split = Split(x);
  const float y = (ExpSeries(split.r) * split.r + 1.0f) * PowerOf2(split.n_bits);
  return Chosen(x < -87.0f, 0.0f, y);
}

// Calls compute(from, values), which makes kExpLanes values, for all of `in`. At the end some of
// them may be made of zeros, and are left out.
template <typename Compute>
inline void ForLanes(const float* in, size_t count, const Compute& compute, float* out) {
  float values[kExpLanes];
  size_t at = 0;
  for (; at + kExpLanes <= count; at += kExpLanes) {
    compute(in + at, values);
    std::memcpy(out + at, values, sizeof(values));
  }
  if (at == count) return;
  float last[kExpLanes] = {};
  for (size_t i = 0; i < count - at; ++i) last[i] = in[at + i];
  compute(last, values);
  for (size_t i = 0; i < count - at; ++i) out[at + i] = values[i];
}

// Adds up values in lanes: each lane adds its values in order, then lane i + 8 is added to lane i,
// lane i + 4 to lane i, and so on.
inline float SumInLanes(const float* values, size_t count) {
  float sums[kExpLanes] = {};
  size_t at = 0;
  for (; at + kExpLanes <= count; at += kExpLanes) {
    for (size_t i = 0; i < kExpLanes; ++i) sums[i] += values[at + i];
  }
  for (size_t i = 0; i < count - at; ++i) sums[i] += values[at + i];
  for (size_t half = kExpLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

void SumRows(const float* in, size_t rows, size_t channels, float* out) {
  for (size_t row = 0; row < rows; ++row) out[row] = SumInLanes(in + row * channels, channels);
}

// Returns the greatest of sign * in[i], where `sign` is 1 or -1; NaN does not count.
inline float GreatestOf(const float* in, size_t count, float sign) {
  float greatest = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < count; ++i) greatest = sign * in[i] > greatest ? sign * in[i] : greatest;
  return greatest;
}

// kGreatestOf is GreatestOf, or a function of vectors that returns the same.
template <float (*kGreatestOf)(const float* in, size_t count, float sign)>
void Softmax(const float* in, size_t rows, size_t channels, float beta, float* out) {
  // With a negative beta, the exponent of the least value is the greatest.
  const float sign = beta < 0 ? -1.0f : 1.0f;
  const float factor = sign * beta;
  for (size_t row = 0; row < rows; ++row, in += channels, out += channels) {
    const float greatest = kGreatestOf(in, channels, sign);
    const auto exponentials = [=](const float* from, float(&values)[kExpLanes]) {
      for (size_t i = 0; i < kExpLanes; ++i) {
        values[i] = ExpOfNegative(factor * (sign * from[i] - greatest));
      }
    };
    ForLanes(in, channels, exponentials, out);
    const float sum = SumInLanes(out, channels);
    for (size_t c = 0; c < channels; ++c) out[c] /= sum;
  }
}

// Computes 1 / (1 + exp(-x)), for negative values as exp(x) / (1 + exp(x)).
inline float LogisticOf(float x) {
  const float e = ExpOfNegative(Chosen(x < 0, x, -x));
  return Chosen(x < 0, e, 1.0f) / (1.0f + e);
}

void Logistic(const float* in, size_t count, float* out) {
  const auto logistic = [](const float* from, float(&values)[kExpLanes]) {
    for (size_t i = 0; i < kExpLanes; ++i) values[i] = LogisticOf(from[i]);
  };
  ForLanes(in, count, logistic, out);
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_EXP_H_
