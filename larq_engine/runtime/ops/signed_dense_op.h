// FULLY_CONNECTED of the host, on floats or int8, with weights that LceUnpackWeights would make.
#ifndef LARQ_ENGINE_RUNTIME_OPS_SIGNED_DENSE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_SIGNED_DENSE_OP_H_

#include <span>
#include <variant>

#include "larq_engine/kernels/common/signed_dense_output.h"
#include "larq_engine/runtime/ops/dense_op.h"
#include "larq_engine/runtime/ops/weight_bits.h"

namespace larq_engine {

struct SignedDenseOp {
  DenseShape shape;
  WeightBits weights;  // [units][depth]
  std::variant<FloatDenseOutput, Int8DenseOutput> output;

  static bool CanClaim(const OpInfo& op);
  // Returns the size of the layer, with one row if the file leaves their number open.
  static SignedDenseSize Size(const OpInfo& op);
  static SignedDenseOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const { return shape.Output(inputs[0]); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_SIGNED_DENSE_OP_H_
