// LceBMaxPool2d, of packed images, and MAX_POOL_2D of the host, of float images.
#ifndef LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_

#include <span>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/window.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct MaxPool2dOp {
  bool of_bits;
  Window2d window;
  Activation activation = Activation::kNone;  // for floats only

  static MaxPool2dOp ReadOfBits(const OpInfo& op);
  static bool CanClaimOfFloats(const OpInfo& op);
  static MaxPool2dOp ReadOfFloats(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_
