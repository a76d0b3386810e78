// TRANSPOSE_CONV of the host, on floats and on int8, to images of a constant size.
#ifndef LARQ_ENGINE_RUNTIME_OPS_TRANSPOSED_CONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_TRANSPOSED_CONV2D_OP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/common/int8_output.h"
#include "larq_engine/kernels/common/transposed_conv2d_spec.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

// Filters are [out_channels][filter_height][filter_width][in_channels].
struct TransposedConv2dOp {
  TransposedConv2dSpec spec;
  Activation activation;
  ConstantValues<float> filter;
  std::vector<float> bias;  // one for each output channel

  static bool CanClaim(const OpInfo& op);
  static TransposedConv2dOp Read(const OpInfo& op);
  std::vector<size_t> DataInputs() const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

struct Int8TransposedConv2dOp {
  TransposedConv2dSpec spec;
  int32_t zero_point;  // of the input
  ConstantValues<int8_t> filter;
  Int8Output output;

  static bool CanClaim(const OpInfo& op);
  static Int8TransposedConv2dOp Read(const OpInfo& op);
  std::vector<size_t> DataInputs() const;
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_TRANSPOSED_CONV2D_OP_H_
