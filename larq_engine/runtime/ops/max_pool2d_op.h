// LceBMaxPool2d, of packed images, and MAX_POOL_2D of the host, of float images.
#ifndef LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_

#include <cstdint>
#include <span>

#include "larq_engine/kernels/window.h"
#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct PoolWindow {
  int64_t filter_height;
  int64_t filter_width;
  int64_t stride_height;
  int64_t stride_width;
  bool same;

  WindowAxis Height(int64_t in_height) const {
    return MakeWindowAxis(in_height, filter_height, stride_height, 1, {.same = same});
  }
  WindowAxis Width(int64_t in_width) const {
    return MakeWindowAxis(in_width, filter_width, stride_width, 1, {.same = same});
  }
};

struct MaxPool2dOp {
  bool of_bits;
  PoolWindow window;

  static MaxPool2dOp ReadOfBits(const OpInfo& op);
  static bool CanClaimOfFloats(const OpInfo& op);
  static MaxPool2dOp ReadOfFloats(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_MAX_POOL2D_OP_H_
