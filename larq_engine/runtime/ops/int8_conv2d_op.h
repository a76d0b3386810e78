// CONV_2D and DEPTHWISE_CONV_2D of the host, on int8.
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
  // Models without a host have the latter two. Their groups follow from the channels of the input
  // in the file.
  enum Form : uint8_t { kUsual, kGrouped, kDepthwise };

  Int8Conv2dSpec spec;
  Form form = kUsual;
  // [out_channels][filter_height][filter_width][channels of a group] or, of a depthwise
  // convolution, [filter_height][filter_width][out_channels]
  ConstantValues<int8_t> filter;
  Int8Output output;
  // Products of bytes do not take it, because it is dilated, in groups, or has weights of -128.
  bool is_plain = false;

  // Tells whether hosts compute the convolution as Int8Conv2d does, perhaps slower.
  static bool CanClaim(const OpInfo& op);
  static bool CanClaimAny(const OpInfo& op, Form form);
  // Requires an operator that can be claimed.
  static Int8Conv2dSpec Spec(const OpInfo& op, Form form = kUsual);
  static Int8Conv2dOp Read(const OpInfo& op, Form form);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_INT8_CONV2D_OP_H_
