#include "larq_engine/kernels/layers/broadcast_loops.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

#include "larq_engine/kernels/common/for_pairs.h"

namespace larq_engine {
namespace {

// Returns the loop of a function that has no state.
template <typename T, typename Out = T, typename Function>
PairLoop Each(Function) {
  return [](const LineOperand& a, const LineOperand& b, size_t count, void* out) {
    ForPairs<T>(a, b, count, Function(), static_cast<Out*>(out));
  };
}

template <typename T>
PairLoop Comparison(PairFunction function) {
  switch (function) {
    case PairFunction::kEqual:
      return Each<T, uint8_t>([](T a, T b) { return a == b; });
    case PairFunction::kNotEqual:
      return Each<T, uint8_t>([](T a, T b) { return a != b; });
    case PairFunction::kLess:
      return Each<T, uint8_t>([](T a, T b) { return a < b; });
    case PairFunction::kLessEqual:
      return Each<T, uint8_t>([](T a, T b) { return a <= b; });
    case PairFunction::kGreater:
      return Each<T, uint8_t>([](T a, T b) { return a > b; });
    case PairFunction::kGreaterEqual:
      return Each<T, uint8_t>([](T a, T b) { return a >= b; });
    default:
      return nullptr;
  }
}

PairLoop FloatLoop(PairFunction function, const PixelOps& row) {
  switch (function) {
    case PairFunction::kFloorDiv:
      return Each<float>([](float a, float b) { return std::floor(a / b); });
    case PairFunction::kFloorMod:
      return Each<float>([](float a, float b) {
        const float rest = std::fmod(a, b);
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      });
    case PairFunction::kPow:
      return Each<float>([](float a, float b) { return std::pow(a, b); });
    default:
      const PairLoop own = row.pair_loop(function);
      return own == nullptr ? Comparison<float>(function) : own;
  }
}

// Results that the type cannot hold wrap around. No divisor is 0. A quotient by -1 is a negative,
// because processors fail where it does not fit.
template <typename T>
PairLoop IntegerLoop(PairFunction function) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (function) {
    case PairFunction::kAdd:
      return Each<Unsigned>([](Unsigned a, Unsigned b) { return a + b; });
    case PairFunction::kFloorDiv:
      return Each<T>([](T a, T b) {
        if (b == -1) return static_cast<T>(0 - static_cast<Unsigned>(a));
        return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
      });
    case PairFunction::kFloorMod:
      return Each<T>([](T a, T b) {
        if (b == -1) return T{0};
        const T rest = a % b;
        return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
      });
    case PairFunction::kMaximum:
      return Each<T>([](T a, T b) { return a > b ? a : b; });
    case PairFunction::kMinimum:
      return Each<T>([](T a, T b) { return a < b ? a : b; });
    case PairFunction::kMul:
      return Each<Unsigned>([](Unsigned a, Unsigned b) { return a * b; });
    case PairFunction::kSquaredDifference:
      return Each<Unsigned>([](Unsigned a, Unsigned b) { return (a - b) * (a - b); });
    case PairFunction::kSub:
      return Each<Unsigned>([](Unsigned a, Unsigned b) { return a - b; });
    default:
      return Comparison<T>(function);
  }
}

PairLoop BoolLoop(PairFunction function) {
  switch (function) {
    case PairFunction::kEqual:
      return Each<uint8_t>([](uint8_t a, uint8_t b) { return (a != 0) == (b != 0); });
    case PairFunction::kNotEqual:
      return Each<uint8_t>([](uint8_t a, uint8_t b) { return (a != 0) != (b != 0); });
    case PairFunction::kLogicalAnd:
      return Each<uint8_t>([](uint8_t a, uint8_t b) { return a != 0 && b != 0; });
    case PairFunction::kLogicalOr:
      return Each<uint8_t>([](uint8_t a, uint8_t b) { return a != 0 || b != 0; });
    default:
      return nullptr;
  }
}

template <typename T>
void ClampAll(Activation activation, size_t count, void* values) {
  const FloatRange range = ActivationRange(activation);
  const T least =
      std::isinf(range.min) ? std::numeric_limits<T>::lowest() : static_cast<T>(range.min);
  const T most = std::isinf(range.max) ? std::numeric_limits<T>::max() : static_cast<T>(range.max);
  auto* all = static_cast<T*>(values);
  for (size_t i = 0; i < count; ++i) {
    const T x = all[i] < least ? least : all[i];
    all[i] = x > most ? most : x;
  }
}

template <typename T>
void Select(const LineOperand& condition, const LineOperand& a, const LineOperand& b, size_t count,
            void* out) {
  const auto* is_a = static_cast<const uint8_t*>(condition.values);
  const auto* x = static_cast<const T*>(a.values);
  const auto* y = static_cast<const T*>(b.values);
  auto* to = static_cast<T*>(out);
  if (!condition.is_one && !a.is_one && !b.is_one) {
    for (size_t i = 0; i < count; ++i) to[i] = is_a[i] != 0 ? x[i] : y[i];
    return;
  }
  const size_t steps[] = {condition.is_one ? 0u : 1u, a.is_one ? 0u : 1u, b.is_one ? 0u : 1u};
  for (size_t i = 0; i < count; ++i) {
    to[i] = is_a[i * steps[0]] != 0 ? x[i * steps[1]] : y[i * steps[2]];
  }
}

}  // namespace

PairLoop LoopOf(PairFunction function, ValueType type, const PixelOps& row) {
  assert(IsOn(function, type));
  if (type == ValueType::kFloat32) return FloatLoop(function, row);
  if (type == ValueType::kInt32) return IntegerLoop<int32_t>(function);
  if (type == ValueType::kInt64) return IntegerLoop<int64_t>(function);
  return BoolLoop(function);
}

void Activate(Activation activation, ValueType type, size_t count, void* values) {
  if (activation == Activation::kNone) return;
  if (type == ValueType::kFloat32) return ClampAll<float>(activation, count, values);
  if (type == ValueType::kInt32) return ClampAll<int32_t>(activation, count, values);
  assert(type == ValueType::kInt64);
  ClampAll<int64_t>(activation, count, values);
}

SelectLoop SelectLoopOf(size_t value_bytes) {
  if (value_bytes == sizeof(uint32_t)) return Select<uint32_t>;
  if (value_bytes == sizeof(uint64_t)) return Select<uint64_t>;
  assert(value_bytes == sizeof(uint8_t));
  return Select<uint8_t>;
}

}  // namespace larq_engine
