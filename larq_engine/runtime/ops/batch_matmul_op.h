// BATCH_MATMUL of the host: products of matrices of floats, both computed.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BATCH_MATMUL_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BATCH_MATMUL_OP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// The last two dimensions are matrices. Those before are broadcast.
struct BatchMatmulOp {
  bool left_is_transposed;
  bool right_is_transposed;

  static bool CanClaim(const OpInfo& op);
  static BatchMatmulOp Read(const OpInfo& op);
  std::vector<size_t> DataInputs() const { return {0, 1}; }
  // Returns how many products a value of the result sums, by the shape of the left operand.
  int Depth(const std::vector<int>& left) const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BATCH_MATMUL_OP_H_
