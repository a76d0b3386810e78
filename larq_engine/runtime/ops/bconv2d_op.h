// LceBconv2d: a convolution of +-1 values, or of planes of them, or another layer that amounts to
// one (dense, 1-D).
#ifndef LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/common/bconv2d_spec.h"
#include "larq_engine/kernels/common/output_transform.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct Bconv2dOp {
  Bconv2dSpec spec;
  OutputTransform transform;
  ConstantValues<uint32_t> filter;  // laid out as Bconv2d expects it

  static Bconv2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // Returns the layer with only the output channels [first, first + count). A layer of one group
  // can be cut at any channel; if it makes bits, only between words.
  Bconv2dOp Slice(int64_t first, int64_t count) const;

  // Counts the products of one run. A product of several planes counts once.
  int64_t Macs(const TensorShape& output) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_
