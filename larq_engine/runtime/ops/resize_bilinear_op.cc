#include "larq_engine/runtime/ops/resize_bilinear_op.h"

#include <vector>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"
#include "larq_engine/runtime/ops/window_checks.h"

namespace larq_engine {

bool ResizeBilinearOp::CanClaim(const OpInfo& op) {
  if (op.inputs.size() != 2 || !op.inputs[0].present || op.inputs[0].constant != nullptr) {
    return false;
  }
  const bool are_floats =
      op.inputs[0].type == ElementType::kFloat32 && op.output.type == ElementType::kFloat32;
  const std::vector<int> size = ReadInts(op.inputs[1]);
  const auto is_size = [](int pixels) { return pixels >= 1 && pixels <= kLittleReach; };
  return (are_floats || AreQuantizedAlike(op.inputs[0], op.output)) && size.size() == 2 &&
         is_size(size[0]) && is_size(size[1]) &&
         !(op.builtin_options.file.align_corners && op.builtin_options.file.half_pixel_centers);
}

ResizeBilinearOp ResizeBilinearOp::Read(const OpInfo& op) {
  const std::vector<int> size = ReadInts(op.inputs[1]);
  return {.is_float = op.output.type == ElementType::kFloat32,
          .height = size[0],
          .width = size[1],
          .aligns_corners = op.builtin_options.file.align_corners,
          .has_pixel_centers = op.builtin_options.file.half_pixel_centers};
}

TensorShape ResizeBilinearOp::Shape(std::span<const TensorShape> inputs) const {
  const std::vector<int>& dims = inputs[0].dims;
  CheckRank(dims, "input", 4);
  CountElements(dims, 4);
  if (dims[1] == 0 || dims[2] == 0) {
    throw OpError("input: expected images of at least one pixel, got shape " + DimsString(dims) +
                  "; feed larger images");
  }
  return CheckedShape({dims[0], height, width, dims[3]});
}

}  // namespace larq_engine
