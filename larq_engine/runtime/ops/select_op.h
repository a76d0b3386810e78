// SELECT and SELECT_V2 of the host. Hosts compute them by themselves.
#ifndef LARQ_ENGINE_RUNTIME_OPS_SELECT_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_SELECT_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct SelectOp {
  // kSelect: both tensors have the result's shape, and the condition is one value, or one for each
  // index of the first dimension, or one for each value. kSelectV2: all three are broadcast.
  enum Form : uint8_t { kSelect, kSelectV2 };

  Form form;
  size_t value_bytes;

  static bool CanClaim(const OpInfo& op, Form form);
  static SelectOp Read(const OpInfo& op, Form form);
  std::vector<size_t> DataInputs() const { return {0, 1, 2}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Returns the shapes that broadcasting takes the operands for.
  std::vector<std::vector<int>> OperandDims(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SELECT_OP_H_
