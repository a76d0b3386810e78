// CONV_2D and DEPTHWISE_CONV_2D of the host, on floats. Only models without a host have dilated
// windows, and groups in a CONV_2D.
#ifndef LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/float_conv2d_spec.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct Conv2dOp {
  // Groups follow from the channels of the input in the file.
  enum Form : uint8_t { kUsual, kGrouped, kDepthwise };

  FloatConv2dSpec spec;
  Activation activation;
  // [out_channels][filter_height][filter_width][channels of a group]; if depthwise,
  // [filter_height][filter_width][out_channels].
  ConstantValues<float> filter;
  std::vector<float> bias;  // one for each output channel

  // Tells whether an input channel makes several output channels, which the host computes faster.
  static bool IsHostsOnCpu(const OpInfo& op);

  static bool CanClaim(const OpInfo& op, Form form);
  static bool CanClaimAny(const OpInfo& op, Form form);  // also a dilated one
  static FloatConv2dSpec Spec(const OpInfo& op, Form form);
  static Conv2dOp Read(const OpInfo& op, Form form);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_
