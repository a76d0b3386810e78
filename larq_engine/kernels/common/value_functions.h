// Functions that make each value of a tensor by itself, and the types of the values.
#ifndef LARQ_ENGINE_KERNELS_COMMON_VALUE_FUNCTIONS_H_
#define LARQ_ENGINE_KERNELS_COMMON_VALUE_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// A bool is a byte, and any byte but 0 is true.
enum class ValueType : uint8_t { kFloat32, kInt32, kInt64, kBool, kInt8, kUint8 };

constexpr size_t BytesOf(ValueType type) {
  switch (type) {
    case ValueType::kFloat32:
    case ValueType::kInt32:
      return 4;
    case ValueType::kInt64:
      return 8;
    case ValueType::kBool:
    case ValueType::kInt8:
    case ValueType::kUint8:
      return 1;
  }
  return 0;
}

// Functions of one value.
enum class ValueFunction : uint8_t {
  kAbs,
  kCeil,
  kCos,
  kElu,
  kExp,
  kFloor,
  kGelu,
  kGeluByTanh,
  kHardSwish,
  kLeakyRelu,
  kLog,
  kLogicalNot,
  kLogistic,
  kNeg,
  kRelu,
  kRelu0To1,
  kRelu6,
  kReluN1To1,
  kRound,  // halves become even
  kRsqrt,
  kSign,
  kSin,
  kSqrt,
  kSquare,
  kTanh,
};

// A loop that makes each value of one other value. `alpha` is the slope of a leaky ReLU for
// negative values, and counts for nothing else. `out` may be `in` if values of both have the same
// size.
using ValueLoop = void (*)(const void* in, size_t count, float alpha, void* out);

// Tells whether the function is defined for values of this type.
constexpr bool IsOn(ValueFunction function, ValueType type) {
  switch (function) {
    case ValueFunction::kLogicalNot:
      return type == ValueType::kBool;
    case ValueFunction::kNeg:
      return type == ValueType::kFloat32 || type == ValueType::kInt32 || type == ValueType::kInt64;
    case ValueFunction::kAbs:
    case ValueFunction::kSign:
      return type == ValueType::kFloat32 || type == ValueType::kInt32;
    default:
      return type == ValueType::kFloat32;
  }
}

// Functions of two values.
enum class PairFunction : uint8_t {
  kAdd,
  kDiv,
  kEqual,
  kFloorDiv,
  kFloorMod,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kLogicalAnd,
  kLogicalOr,
  kMaximum,
  kMinimum,
  kMul,
  kNotEqual,
  kPow,
  kPrelu,  // the second value is the slope of negative ones
  kSquaredDifference,
  kSub,
};

struct LineOperand {
  const void* values;
  bool is_one;  // one value for the whole line
};

// A loop that makes each value of a line of one value of each operand. `out` may be an operand
// whose values have the same size, or that is one value: that is read before anything is written.
using PairLoop = void (*)(const LineOperand& a, const LineOperand& b, size_t count, void* out);

// Tells whether the results are bools. Others have the type of both values.
constexpr bool MakesBools(PairFunction function) {
  switch (function) {
    case PairFunction::kEqual:
    case PairFunction::kGreater:
    case PairFunction::kGreaterEqual:
    case PairFunction::kLess:
    case PairFunction::kLessEqual:
    case PairFunction::kLogicalAnd:
    case PairFunction::kLogicalOr:
    case PairFunction::kNotEqual:
      return true;
    default:
      return false;
  }
}

constexpr bool IsOn(PairFunction function, ValueType type) {
  const bool is_number =
      type == ValueType::kFloat32 || type == ValueType::kInt32 || type == ValueType::kInt64;
  switch (function) {
    case PairFunction::kLogicalAnd:
    case PairFunction::kLogicalOr:
      return type == ValueType::kBool;
    case PairFunction::kEqual:
    case PairFunction::kNotEqual:
      return is_number || type == ValueType::kBool;
    case PairFunction::kDiv:
    case PairFunction::kPow:
    case PairFunction::kPrelu:
      return type == ValueType::kFloat32;
    case PairFunction::kFloorDiv:
    case PairFunction::kSquaredDifference:
      return type == ValueType::kFloat32 || type == ValueType::kInt32;
    default:
      return is_number;
  }
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_COMMON_VALUE_FUNCTIONS_H_
