// CONV_2D of the host, on int8.
#ifndef LARQ_ENGINE_RUNTIME_OPS_INT8_CONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_INT8_CONV2D_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/common/int8_conv2d_spec.h"
#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct Int8Conv2dOp {
  Int8Conv2dSpec spec;
  ConstantValues<int8_t> filter;  // [out_channels][filter_height][filter_width][in_channels]
  Int8Output output;

  static bool CanClaim(const OpInfo& op);
  // Requires an operator that can be claimed.
  static Int8Conv2dSpec Spec(const OpInfo& op);
  static Int8Conv2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_CONV2D_OP_H_
