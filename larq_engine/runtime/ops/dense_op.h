// FULLY_CONNECTED of the host, on floats.
#ifndef LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct DenseShape {
  int depth;
  int units;
  bool keeps_dims;  // all of the input but the last; else the output is of [rows][units]

  TensorShape Output(const TensorShape& input) const;
};

struct DenseOp : DenseShape {
  bool for_other_devices;
  Activation activation;
  ConstantValues<float> weights;  // [units][depth]
  std::vector<float> bias;        // of each unit

  // Where its weights are many: the host is no slower then.
  static bool IsForOtherDevices(const OpInfo& op);

  static bool CanClaim(const OpInfo& op);
  static DenseOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const { return Output(inputs[0]); }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_DENSE_OP_H_
