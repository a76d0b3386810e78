#include "larq_engine/runtime/cuda/window_pairs.h"

#include <cassert>

#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "larq_engine/kernels/cuda/pixel_rows.h"

namespace larq_engine {

cuda::ImageWindow MakeWindow(const Window2d& window, const std::vector<int>& in) {
  assert(!window.IsDilated());
  const auto [height, width] = window.Over(in[1], in[2]);
  return {.batch = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .channels = in[3],
          .out_height = cuda::MakeDivisor(static_cast<int32_t>(height.out)),
          .out_width = cuda::MakeDivisor(static_cast<int32_t>(width.out)),
          .filter_height = static_cast<int32_t>(height.taps),
          .filter_width = static_cast<int32_t>(width.taps),
          .stride_height = static_cast<int32_t>(height.stride),
          .stride_width = static_cast<int32_t>(width.stride),
          .pad_top = static_cast<int32_t>(height.pad_before),
          .pad_left = static_cast<int32_t>(width.pad_before)};
}

cuda::DepthwiseArgs MakeDepthwise(const Conv2dOp& op, const std::vector<int>& in) {
  cuda::DepthwiseArgs args{};
  args.window = MakeWindow(op.spec.window, in);
  args.out_channels = static_cast<int32_t>(op.spec.out_channels);
  args.multiplier =
      cuda::MakeDivisor(static_cast<int32_t>(op.spec.out_channels / op.spec.in_channels));
  return args;
}

// An empty output is refused first, because kernels divide by the sizes of an image.
std::optional<cuda::PooledDepthwiseArgs> FindPooledConv(const Program& program,
                                                        const ProgramOp& pool,
                                                        const ProgramOp& conv) {
  const auto* pooled = std::get_if<MaxPool2dOp>(pool.op.get());
  const auto* convolved = std::get_if<Conv2dOp>(conv.op.get());
  const bool are_such = pooled != nullptr && !pooled->of_bits &&
                        pooled->activation == Activation::kNone && convolved != nullptr &&
                        convolved->spec.is_depthwise;
  if (!are_such || program.value(conv.output).bytes == 0) return std::nullopt;
  cuda::PooledDepthwiseArgs args{};
  args.pool = MakeWindow(pooled->window, program.value(pool.inputs[0]).shape.dims);
  args.conv = MakeDepthwise(*convolved, program.value(pool.output).shape.dims);
  if (cuda::FindPixelRow(cuda::PooledDepthwiseRows(), args) == nullptr) return std::nullopt;
  return args;
}

std::optional<cuda::DepthwisePointwiseArgs> FindDepthwisePointwise(const Program& program,
                                                                   const ProgramOp& depthwise,
                                                                   const ProgramOp& pointwise) {
  const auto* first = std::get_if<Conv2dOp>(depthwise.op.get());
  const auto* second = std::get_if<Conv2dOp>(pointwise.op.get());
  const bool are_such = first != nullptr && first->spec.is_depthwise && second != nullptr &&
                        !second->spec.is_depthwise;
  if (!are_such || program.value(pointwise.output).bytes == 0) return std::nullopt;
  cuda::DepthwisePointwiseArgs args{};
  args.depthwise = MakeDepthwise(*first, program.value(depthwise.inputs[0]).shape.dims);
  args.pointwise.window =
      MakeWindow(second->spec.window, program.value(depthwise.output).shape.dims);
  args.pointwise.out_channels = static_cast<int32_t>(second->spec.out_channels);
  if (!cuda::TakesDepthwisePointwise(args.depthwise, args.pointwise)) return std::nullopt;
  return args;
}

}  // namespace larq_engine
