// The functions of floats that compilers make vectors of. Everything here is internal to the file
// that includes it, as in pixel_ops_loops.h.
#ifndef LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_
#define LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_

#include <cstddef>

#include "larq_engine/kernels/common/value_functions.h"

namespace larq_engine {
namespace {

// Returns the loop of a function that has no state.
template <typename Function>
constexpr PairLoop EachPair(Function) {
  return [](const LineOperand& a, const LineOperand& b, size_t count, void* out) {
    const auto* x = static_cast<const float*>(a.values);
    const auto* y = static_cast<const float*>(b.values);
    auto* to = static_cast<float*>(out);
    if (a.is_one) {
      const float one = *x;
      for (size_t i = 0; i < count; ++i) to[i] = Function()(one, y[i]);
    } else if (b.is_one) {
      const float one = *y;
      for (size_t i = 0; i < count; ++i) to[i] = Function()(x[i], one);
    } else {
      for (size_t i = 0; i < count; ++i) to[i] = Function()(x[i], y[i]);
    }
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

// Changes only values beyond a bound: NaN stays, and so does the sign of a zero.
inline float Clamped(float x, float least, float most) {
  x = x < least ? least : x;
  return x > most ? most : x;
}

ValueLoop ValueLoopOf(ValueFunction function) {
  switch (function) {
    case ValueFunction::kAbs:
      return EachValue([](float x, float) { return __builtin_fabsf(x); });
    case ValueFunction::kHardSwish:
      return EachValue([](float x, float) { return x * (Clamped(x + 3, 0, 6) / 6); });
    case ValueFunction::kLeakyRelu:
      return EachValue([](float x, float alpha) { return x > 0 ? x : x * alpha; });
    case ValueFunction::kNeg:
      return EachValue([](float x, float) { return -x; });
    case ValueFunction::kRelu:
      return EachValue([](float x, float) { return x < 0 ? 0 : x; });
    case ValueFunction::kRelu0To1:
      return EachValue([](float x, float) { return Clamped(x, 0, 1); });
    case ValueFunction::kRelu6:
      return EachValue([](float x, float) { return Clamped(x, 0, 6); });
    case ValueFunction::kReluN1To1:
      return EachValue([](float x, float) { return Clamped(x, -1, 1); });
    case ValueFunction::kRsqrt:
      return EachValue([](float x, float) { return 1 / __builtin_sqrtf(x); });
    case ValueFunction::kSqrt:
      return EachValue([](float x, float) { return __builtin_sqrtf(x); });
    case ValueFunction::kSquare:
      return EachValue([](float x, float) { return x * x; });
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_PIXELS_PIXEL_OPS_FUNCTIONS_H_
