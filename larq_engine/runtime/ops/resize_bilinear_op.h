// RESIZE_BILINEAR of the host, on floats and on int8, to a constant size.
#ifndef LARQ_ENGINE_RUNTIME_OPS_RESIZE_BILINEAR_OP_H_
#define LARQ_ENGINE_RUNTIME_OPS_RESIZE_BILINEAR_OP_H_

#include <span>

#include "larq_engine/runtime/ops/shape.h"

namespace larq_engine {

struct OpInfo;

struct ResizeBilinearOp {
  bool is_float;  // else int8
  int height;
  int width;
  bool aligns_corners;
  bool has_pixel_centers;

  static bool CanClaim(const OpInfo& op);
  static ResizeBilinearOp Read(const OpInfo& op);
  TensorShape Shape(std::span<const TensorShape> inputs) const;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_RESIZE_BILINEAR_OP_H_
