#include "larq_engine/kernels/layers/value_loops.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

namespace larq_engine {
namespace {

// Returns the loop of a function that has no state.
template <typename T, typename Function>
ValueLoop Each(Function) {
  return [](const void* in, size_t count, float, void* out) {
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<T*>(out);
    for (size_t i = 0; i < count; ++i) to[i] = Function()(from[i]);
  };
}

// The negative of the least integer is itself.
template <typename T>
T Negative(T x) {
  return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
}

ValueLoop FloatLoop(ValueFunction function, const PixelOps& row) {
  switch (function) {
    case ValueFunction::kCos:
      return Each<float>([](float x) { return std::cos(x); });
    case ValueFunction::kSign:
      return Each<float>([](float x) {
        const float sign = static_cast<float>(x > 0) - static_cast<float>(x < 0);
        return x != x ? x : sign;  // NaN has no sign
      });
    case ValueFunction::kSin:
      return Each<float>([](float x) { return std::sin(x); });
    default:
      return row.value_loop(function);
  }
}

template <typename T>
ValueLoop IntegerLoop(ValueFunction function) {
  switch (function) {
    case ValueFunction::kAbs:
      return Each<T>([](T x) { return x < 0 ? Negative(x) : x; });
    case ValueFunction::kNeg:
      return Each<T>([](T x) { return Negative(x); });
    case ValueFunction::kSign:
      return Each<T>([](T x) { return static_cast<T>((x > 0) - (x < 0)); });
    default:
      return nullptr;
  }
}

ValueLoop FindLoop(ValueFunction function, ValueType type, const PixelOps& row) {
  if (type == ValueType::kFloat32) return FloatLoop(function, row);
  if (type == ValueType::kInt32) return IntegerLoop<int32_t>(function);
  if (type == ValueType::kInt64) return IntegerLoop<int64_t>(function);
  return Each<uint8_t>([](uint8_t x) { return static_cast<uint8_t>(x == 0); });  // kLogicalNot
}

struct Bool {
  uint8_t byte;
};

template <typename To, typename From>
To Cast(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return Cast<To>(static_cast<uint8_t>(x.byte != 0));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    using Limits = std::numeric_limits<To>;
    const auto least = static_cast<float>(Limits::min());
    const float above = std::ldexp(1.0f, Limits::digits);  // the limit itself may be no float
    if (!(x < above)) return Limits::max();
    return x > least ? static_cast<To>(x) : Limits::min();
  } else {
    return static_cast<To>(x);
  }
}

template <typename To, typename From>
void CastAll(const void* in, size_t count, float, void* out) {
  const auto* from = static_cast<const From*>(in);
  auto* to = static_cast<To*>(out);
  for (size_t i = 0; i < count; ++i) to[i] = Cast<To>(from[i]);
}

template <typename From>
ValueLoop CastLoopFrom(ValueType to) {
  switch (to) {
    case ValueType::kFloat32:
      return CastAll<float, From>;
    case ValueType::kInt32:
      return CastAll<int32_t, From>;
    case ValueType::kInt64:
      return CastAll<int64_t, From>;
    case ValueType::kBool:
      return CastAll<Bool, From>;
    case ValueType::kInt8:
      return CastAll<int8_t, From>;
    case ValueType::kUint8:
      return CastAll<uint8_t, From>;
  }
  return nullptr;
}

}  // namespace

ValueLoop CastLoopOf(ValueType from, ValueType to) {
  switch (from) {
    case ValueType::kFloat32:
      return CastLoopFrom<float>(to);
    case ValueType::kInt32:
      return CastLoopFrom<int32_t>(to);
    case ValueType::kInt64:
      return CastLoopFrom<int64_t>(to);
    case ValueType::kBool:
      return CastLoopFrom<Bool>(to);
    case ValueType::kInt8:
      return CastLoopFrom<int8_t>(to);
    case ValueType::kUint8:
      return CastLoopFrom<uint8_t>(to);
  }
  return nullptr;
}

ValueLoop LoopOf(ValueFunction function, ValueType type, const PixelOps& row) {
  assert(IsOn(function, type));
  return FindLoop(function, type, row);
}

}  // namespace larq_engine
