// LceBmatmul, of two tensors of bits.
#ifndef LARQ_ENGINE_RUNTIME_OPS_BMATMUL_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BMATMUL_OP_H_

#include <cstddef>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/bmatmul_spec.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct BmatmulOp {
  BmatmulSpec spec;

  // Below this rank axis 0 is that of a matrix.
  static constexpr size_t kRankOfRows = 3;

  static BmatmulOp Read(const OpInfo& op);
  static std::vector<size_t> DataInputs() { return {0, 1}; }
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BMATMUL_OP_H_
