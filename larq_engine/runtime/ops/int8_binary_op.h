// ADD, SUB and MUL of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_BINARY_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_BINARY_OP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/float_range.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Two tensors, or a tensor and a constant, computed as the host's XNNPACK does. A sum is one of
// integers, shifted down, halves up. A product is multiplied by a float, halves to even; the host's
// other kernel multiplies by an integer.
struct Int8BinaryOp {
  enum Kind : uint8_t { kAdd, kSubtract, kMultiply };

  // A step of the output has 2^shift parts, and a step of each operand is worth this many of them.
  struct Parts {
    std::array<int32_t, 2> of_step = {};
    int shift = 0;
  };

  Kind kind;
  std::array<int32_t, 2> zero_points;  // of the operands
  Parts parts = {};                    // of a sum
  float multiplier = 0;                // of a product
  FloatRange range;                    // whole numbers, without the zero point
  int32_t zero_point;
  std::vector<size_t> data_inputs = {};
  ConstantValues<int8_t> constant = {};
  std::vector<int> constant_dims = {};

  static bool CanClaim(const OpInfo& op, Kind kind);
  static Int8BinaryOp Read(const OpInfo& op, Kind kind);

  std::vector<size_t> DataInputs() const { return data_inputs; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;
  // Returns the shapes of both operands in the file's order.
  std::array<std::vector<int>, 2> OperandDims(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_BINARY_OP_H_
