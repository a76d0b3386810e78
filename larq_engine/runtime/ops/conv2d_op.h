// CONV_2D and DEPTHWISE_CONV_2D of the host, on floats.
#ifndef LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"
#include "larq_engine/runtime/ops/window2d.h"

namespace larq_engine {

struct OpInfo;

struct Conv2dOp {
  static constexpr bool kForOtherDevices = true;

  bool is_depthwise;
  int in_channels;
  int out_channels;  // depthwise: a multiple of in_channels
  Window2d window;
  Activation activation;
  // [out_channels][filter_height][filter_width][in_channels]; depthwise:
  // [filter_height][filter_width][out_channels].
  ConstantValues<float> filter;
  std::vector<float> bias;  // of each output channel

  static bool CanClaim(const OpInfo& op, bool is_depthwise);
  static Conv2dOp Read(const OpInfo& op, bool is_depthwise);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
  int64_t depth() const {  // products of an output value
    return window.filter_height * window.filter_width * (is_depthwise ? 1 : in_channels);
  }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_CONV2D_OP_H_
