// Makes the launch of LceBconv2d: its filter and constants on the device, and the choice of its
// kernel.
#include "larq_engine/kernels/common/corner_ones.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"
#include "larq_engine/runtime/cuda/bconv2d_operands.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Numbers of the arrays in DeviceConstants.
enum Slot : int {
  kFilter,
  kFilterOnes,
  kCornerOnes,
  kMultiplier,
  kBias,
  kZeroDot,
  kDotLimit,
  kExcessLimit
};

}  // namespace

Launch Launch::Of(const cuda::Bconv2dRow& row, const cuda::Chip& chip,
                  const cuda::Bconv2dArgs& args) {
  const cuda::LaunchSize size = row.size(args, chip);
  if (!row.has_maps) return Of(row.kernel, size, args);
  Launch launch =
      Of(row.kernel, size, cuda::Bconv2dTmaArgs{.image = {}, .filter = {}, .layer = args});
  const cuda::Bconv2dMaps maps = cuda::MapsOf(args);
  launch.maps = {{offsetof(cuda::Bconv2dTmaArgs, image), maps.image},
                 {offsetof(cuda::Bconv2dTmaArgs, filter), maps.filter}};
  return launch;
}

std::vector<Launch> LaunchMaker::Make(const Bconv2dOp& op, const Chain& chain) const {
  const size_t index = chain.ops[0];
  const ProgramOp& planned = First(chain);
  const Bconv2dSpec& spec = op.spec;
  const auto channels = static_cast<size_t>(spec.out_channels);
  const size_t filter_words = static_cast<size_t>(spec.bits_weights) * channels * FilterWords(spec);
  const std::vector<int>& in = Shape(planned.inputs[0]).dims;
  cuda::Bconv2dArgs args = MakeGeometry(spec, in);
  args.image = Place<uint32_t>(planned.inputs[0]);
  args.filter = constants_.Get<uint32_t>(index, kFilter, filter_words,
                                         [&] { return PadFilter(spec, op.filter.data()); });
  const auto filter_ones = [&] { return FilterOnes(spec, op.filter.data()); };
  args.filter_ones = constants_.Get<int32_t>(index, kFilterOnes, channels, filter_ones);
  const bool counts_outside =
      spec.IsPaddedWith(PadValue::kZero) || spec.IsPaddedWith(PadValue::kMinusOne);
  if (counts_outside && spec.window.Over(in[1], in[2]).HasTapsOutside()) {
    args.corner_ones = constants_.Get<int32_t>(index, kCornerOnes, CornerCount(spec),
                                               [&] { return CornerOnes(spec, op.filter.data()); });
  }
  const OutputTransform& transform = op.transform;
  cuda::Bconv2dOutput& output = args.output;
  output.dot_min = transform.range.min;
  output.dot_max = transform.range.max;
  output.zero_point = transform.zero_point;
  output.zero_dot = constants_.Get<int32_t>(index, kZeroDot, channels,
                                            [&] { return ZeroDots(spec, filter_ones()); });
  if (transform.kind == OutputKind::kBits) {
    output.kind = cuda::Bconv2dOutput::kBits;
    output.dot_limit =
        constants_.Get<int32_t>(index, kDotLimit, channels, [&] { return transform.dot_limit; });
    output.excess_limit = constants_.Get<int32_t>(index, kExcessLimit, channels, [&] {
      return ExcessLimits(spec, transform.dot_limit, filter_ones());
    });
    output.bits = Place<uint32_t>(planned.output);
  } else {
    output.multiplier = ChannelConstant(index, kMultiplier, transform.multiplier, channels);
    output.bias = ChannelConstant(index, kBias, transform.bias, channels);
    if (transform.kind == OutputKind::kInt8) {
      output.kind = cuda::Bconv2dOutput::kInt8;
      output.int8 = Place<int8_t>(planned.output);
    } else {
      output.kind = cuda::Bconv2dOutput::kFloat;
      output.after = MakeProgram(chain, 1);
    }
  }
  args = cuda::WithEpilogue(args);
  const cuda::Bconv2dChoice choice = cuda::SelectBconv2d(
      args, chip_,
      planned.place && !planned.place->kernel.empty() ? planned.place->kernel : kernel_);
  if (choice.row == nullptr) throw OpError(choice.error);
  return {Launch::Of(*choice.row, chip_, args)};
}

}  // namespace larq_engine
