// LceBconv2d: a convolution of +-1 values, or of planes of them, or a layer that is one (dense,
// 1-D).
#ifndef LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/bconv2d_spec.h"
#include "larq_engine/kernels/output_transform.h"
#include "larq_engine/runtime/ops/constant_values.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct Bconv2dOp {
  Bconv2dSpec spec;
  OutputTransform transform;
  ConstantValues<uint32_t> filter;  // as for Bconv2d

  static Bconv2dOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;

  // The layer with output channels [first, first + count) alone. Layers of one group can be cut
  // anywhere, but between words where they make bits.
  Bconv2dOp Slice(int64_t first, int64_t count) const;

  // Products of one run, each of all planes.
  int64_t Macs(const TensorShape& output) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_BCONV2D_OP_H_
