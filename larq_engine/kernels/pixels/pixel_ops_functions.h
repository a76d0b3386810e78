// The functions of floats that compilers make vectors of. Everything here is internal to the file
// that includes it, as in pixel_ops_loops.h.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_

#include <cstddef>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/kernels/common/for_pairs.h"
#include "larq_engine/kernels/common/value_functions.h"
#include "larq_engine/kernels/pixels/pixel_ops_exp.h"

namespace larq_engine {
namespace {

// Returns the loop of a function that has no state.
template <typename Function>
constexpr PairLoop EachPair(Function) {
  return [](const LineOperand& a, const LineOperand& b, size_t count, void* out) {
    ForPairs<float>(a, b, count, Function(), static_cast<float*>(out));
  };
}

PairLoop PairLoopOf(PairFunction function) {
  switch (function) {
    case PairFunction::kAdd:
      return EachPair([](float a, float b) { return a + b; });
    case PairFunction::kDiv:
      return EachPair([](float a, float b) { return a / b; });
    case PairFunction::kMaximum:
      return EachPair([](float a, float b) { return a > b ? a : b; });
    case PairFunction::kMinimum:
      return EachPair([](float a, float b) { return a < b ? a : b; });
    case PairFunction::kMul:
      return EachPair([](float a, float b) { return a * b; });
    case PairFunction::kPrelu:
      return EachPair([](float a, float b) { return a >= 0 ? a : a * b; });
    case PairFunction::kSquaredDifference:
      return EachPair([](float a, float b) { return (a - b) * (a - b); });
    case PairFunction::kSub:
      return EachPair([](float a, float b) { return a - b; });
    default:
      return nullptr;
  }
}

// Returns the loop of a function of a value and of alpha, which has no state.
template <typename Function>
constexpr ValueLoop EachValue(Function) {
  return [](const void* in, size_t count, float alpha, void* out) {
    const auto* from = static_cast<const float*>(in);
    auto* to = static_cast<float*>(out);
    for (size_t i = 0; i < count; ++i) to[i] = Function()(from[i], alpha);
  };
}

// gcc 12 makes vectors of roundings to the nearest integer, not of std::floor. A zero has x's sign.
inline float FloorOf(float x) {
  const float nearest = __builtin_nearbyintf(x);
  return __builtin_copysignf(nearest - Chosen(nearest > x, 1.0f, 0.0f), x);
}

// Computes exp(x). A result below the smallest normal float needs a factor that is no normal float,
// so there are two. Beyond the limits the result is replaced: if x itself were limited, gcc 12
// would branch.
inline float ExpOf(float x) {
  const SplitExponent split = Split(x);
  const auto n = static_cast<int32_t>(split.n_bits - __builtin_bit_cast(uint32_t, kRounds));
  const auto half = static_cast<uint32_t>(n >> 1);
  const float y = ExpSeries(split.r) * split.r + 1.0f;
  const float within = y * PowerOf2(half) * PowerOf2(static_cast<uint32_t>(n) - half);
  return Chosen(x > 89.0f, __builtin_inff(), Chosen(x < -104.0f, 0.0f, within));
}

// Computes exp(x) - 1 for x from -87 to 0. Near 0 it errs by some 2^-23 of the result too, because
// 1 is only taken from a power of 2.
inline float ExpMinus1(float x) {
  const SplitExponent split = Split(x);
  const float power = PowerOf2(split.n_bits);
  return ExpSeries(split.r) * split.r * power + (power - 1.0f);
}

inline float EluOf(float x) { return Chosen(x < 0, Chosen(x < -87.0f, -1.0f, ExpMinus1(x)), x); }

// With e = exp(-2 |x|) - 1, it is -e / (2 + e); from 10 on, 1 is the nearest float. The limit has a
// loop of its own, because gcc 12 would branch where it becomes a constant result.
void Tanh(const void* in, size_t count, float, void* out) {
  const auto tanh = [](const float* from, float(&values)[kExpLanes]) {
    float sizes[kExpLanes];
    for (size_t i = 0; i < kExpLanes; ++i) {
      const float size = __builtin_fabsf(from[i]);
      sizes[i] = Chosen(size > 10.0f, 10.0f, size);
    }
    for (size_t i = 0; i < kExpLanes; ++i) {
      const float e = ExpMinus1(-2 * sizes[i]);
      values[i] = __builtin_copysignf(-e / (2.0f + e), from[i]);
    }
  };
  ForLanes(static_cast<const float*>(in), count, tanh, static_cast<float*>(out));
}

// Computes x * erfc(-x / sqrt(2)) / 2. For z >= 0, erfc(z) is exp(-z^2) times a polynomial of
// t = 1 / (1 + 0.45 z) without a constant. It errs by at most 3e-7 of erfc(z): a least-squares fit
// whose weights were adapted until the errors' peaks were alike.
inline float GeluOf(float x) {
  constexpr float kInverseSqrt2 = 0x1.6a09e6p-1f;
  const float t = 1.0f / (1.0f + 0.45f * (__builtin_fabsf(x) * kInverseSqrt2));
  float y = 0x1.0fa09cp-4f;
  y = y * t - 0x1.e728f2p-3f;
  y = y * t + 0x1.a2dc72p-3f;
  y = y * t + 0x1.6c102ap-5f;
  y = y * t + 0x1.7dab48p-3f;
  y = y * t + 0x1.d4934p-3f;
  y = y * t + 0x1.039a1ap-2f;
  y = y * t + 0x1.0402cap-2f;
  const float tail = y * t * ExpOfNegative(-(x * x) * 0.5f);
  return 0.5f * x * Chosen(x < 0, tail, 2.0f - tail);
}

// Half of 1 + tanh(v) is the logistic function of 2 v.
inline float GeluByTanhOf(float x) {
  constexpr float kScale = 0x1.988454p-1f;  // the square root of 2 / pi
  return x * LogisticOf(2 * (kScale * (x + 0.044715f * x * x * x)));
}

// Computes log(x) as n * log(2) + log(m), where m is between the square roots of 1/2 and of 2.
// With s = (m - 1) / (m + 1), log(m) is 2 (s + s^3 / 3 + s^5 / 5 + ...). As |s| is at most 0.172,
// the first term left out, s^11 / 11, is at most 2e-9 of s.
inline float LogOf(float x) {
  constexpr float kInfinity = __builtin_inff();
  constexpr uint32_t kSqrtHalf = 0x3f3504f3;
  const bool is_denormal = x < 0x1p-126f;
  const auto bits = __builtin_bit_cast(uint32_t, x * Chosen(is_denormal, 0x1p23f, 1.0f));
  const int32_t n = static_cast<int32_t>(bits - kSqrtHalf) >> 23;
  const float m = __builtin_bit_cast(float, bits - (static_cast<uint32_t>(n) << 23));
  const float exponent = static_cast<float>(n) - Chosen(is_denormal, 23.0f, 0.0f);
  const float s = (m - 1.0f) / (m + 1.0f);
  const float q = s * s;
  float y = q * (1.0f / 9) + 1.0f / 7;
  y = y * q + 1.0f / 5;
  y = y * q + 1.0f / 3;
  y = (y * q * s + s) * 2.0f;
  y = exponent * kLog2Upper + (exponent * kLog2Lower + y);
  y = Chosen(x < kInfinity, y, x);
  return Chosen(x > 0, y, Chosen(x == 0, -kInfinity, __builtin_nanf("")));
}

// Returns 0 for a negative value; -0 is none.
inline float AtLeast0(float x) {
#if defined(__wasm__)
  // clang 14 makes f32.max of a comparison with 0, which turns -0 into 0.
  constexpr float kNearestBelow0 = -0x1p-149f;
  return x <= kNearestBelow0 ? 0 : x;
#else
  return x < 0 ? 0 : x;
#endif
}

inline float AtMost(float x, float most) { return x > most ? most : x; }

ValueLoop ValueLoopOf(ValueFunction function) {
  switch (function) {
    case ValueFunction::kAbs:
      return EachValue([](float x, float) { return __builtin_fabsf(x); });
    case ValueFunction::kCeil:
      return EachValue([](float x, float) { return -FloorOf(-x); });
    case ValueFunction::kElu:
      return EachValue([](float x, float) { return EluOf(x); });
    case ValueFunction::kExp:
      return EachValue([](float x, float) { return ExpOf(x); });
    case ValueFunction::kFloor:
      return EachValue([](float x, float) { return FloorOf(x); });
    case ValueFunction::kGelu:
      return EachValue([](float x, float) { return GeluOf(x); });
    case ValueFunction::kGeluByTanh:
      return EachValue([](float x, float) { return GeluByTanhOf(x); });
    case ValueFunction::kHardSwish:
      return EachValue([](float x, float) { return x * (Clamp(x + 3, {.min = 0, .max = 6}) / 6); });
    case ValueFunction::kLeakyRelu:
      return EachValue([](float x, float alpha) { return x > 0 ? x : x * alpha; });
    case ValueFunction::kLog:
      return EachValue([](float x, float) { return LogOf(x); });
    case ValueFunction::kLogistic:
      return EachValue([](float x, float) { return LogisticOf(x); });
    case ValueFunction::kNeg:
      return EachValue([](float x, float) { return -x; });
    case ValueFunction::kRelu:
      return EachValue([](float x, float) { return AtLeast0(x); });
    case ValueFunction::kRelu0To1:
      return EachValue([](float x, float) { return AtMost(AtLeast0(x), 1); });
    case ValueFunction::kRelu6:
      return EachValue([](float x, float) { return AtMost(AtLeast0(x), 6); });
    case ValueFunction::kReluN1To1:
      return EachValue([](float x, float) { return Clamp(x, {.min = -1, .max = 1}); });
    case ValueFunction::kRound:
      return EachValue([](float x, float) { return __builtin_nearbyintf(x); });
    case ValueFunction::kRsqrt:
      return EachValue([](float x, float) { return 1 / __builtin_sqrtf(x); });
    case ValueFunction::kSqrt:
      return EachValue([](float x, float) { return __builtin_sqrtf(x); });
    case ValueFunction::kSquare:
      return EachValue([](float x, float) { return x * x; });
    case ValueFunction::kTanh:
      return Tanh;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_
