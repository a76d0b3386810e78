#include "larq_engine/kernels/layers/transform_tile.h"

namespace larq_engine {

void Transform(const PixelOps& ops, const OutputTransform& transform, const TransformTile& tile) {
  const bool bits = transform.kind == OutputKind::kBits;
  const TransformArgs args{
      .rows = tile.rows,
      .channels = tile.channels,
      .acc = tile.acc,
      .acc_stride = tile.acc_stride,
      .depth = tile.depth,
      .multiplier = bits ? nullptr : transform.multiplier.data() + tile.first_channel,
      .bias = bits ? nullptr : transform.bias.data() + tile.first_channel,
      .dot_min = transform.range.min,
      .dot_max = transform.range.max,
      .zero_point = transform.zero_point,
      .dot_limit = bits ? transform.dot_limit.data() + tile.first_channel : nullptr,
      .out = tile.out,
      .out_stride = tile.out_stride,
      .sum = tile.sum};
  switch (transform.kind) {
    case OutputKind::kFloat:
      return ops.to_float(args);
    case OutputKind::kInt8:
      return ops.to_int8(args);
    case OutputKind::kBits:
      return ops.to_bits(args);
  }
}

}  // namespace larq_engine
