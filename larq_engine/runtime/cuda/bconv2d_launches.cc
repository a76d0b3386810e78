// LceBconv2d as a launch: its filter and constants on the device, and the choice of its kernel.
#include <algorithm>
#include <bit>

#include "larq_engine/kernels/corner_ones.h"
#include "larq_engine/kernels/cuda/bconv2d_args.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Slots of DeviceConstants.
enum Slot : int { kFilter, kFilterOnes, kCornerOnes, kMultiplier, kBias, kDotLimit };

// A filter's rows are copied 64 bytes at a time.
constexpr size_t kRowWords = 16;

size_t FilterWords(const Bconv2dSpec& spec) {
  return RoundUp(static_cast<size_t>(spec.taps()) * spec.tap_words(), kRowWords);
}

std::vector<uint32_t> PadFilter(const Bconv2dOp& op) {
  const size_t words = static_cast<size_t>(op.spec.taps()) * op.spec.tap_words();
  const size_t row = FilterWords(op.spec);
  std::vector<uint32_t> filter(static_cast<size_t>(op.spec.out_channels) * row);
  for (size_t n = 0; n < static_cast<size_t>(op.spec.out_channels); ++n) {
    std::copy_n(op.filter.data() + n * words, words, filter.data() + n * row);
  }
  return filter;
}

std::vector<int32_t> FilterOnes(const Bconv2dOp& op) {
  const size_t words = static_cast<size_t>(op.spec.taps()) * op.spec.tap_words();
  std::vector<int32_t> ones(static_cast<size_t>(op.spec.out_channels));
  for (size_t n = 0; n < ones.size(); ++n) {
    for (size_t w = 0; w < words; ++w) ones[n] += std::popcount(op.filter.data()[n * words + w]);
  }
  return ones;
}

cuda::Bconv2dArgs MakeGeometry(const Bconv2dSpec& spec, const std::vector<int>& in) {
  const WindowAxis height = spec.Height(in[1]);
  const WindowAxis width = spec.Width(in[2]);
  const auto small = [](auto value) { return static_cast<int32_t>(value); };
  cuda::Bconv2dArgs args{};
  args.pad_value = static_cast<int32_t>(spec.pad_value);
  args.batch = in[0];
  args.in_height = in[1];
  args.in_width = in[2];
  args.pixel_words = small(spec.pixel_words());
  args.out_height = small(height.out);
  args.out_width = small(width.out);
  args.out_channels = small(spec.out_channels);
  args.group_in_channels = small(spec.group_in_channels());
  args.group_out_channels = small(spec.group_out_channels());
  args.tap_words = small(spec.tap_words());
  args.filter_words = small(FilterWords(spec));
  args.filter_height = small(spec.filter_height);
  args.filter_width = small(spec.filter_width);
  args.stride_height = small(spec.stride_height);
  args.stride_width = small(spec.stride_width);
  args.dilation_height = small(spec.dilation_height);
  args.dilation_width = small(spec.dilation_width);
  args.pad_top = small(height.pad_before);
  args.pad_left = small(width.pad_before);
  return args;
}

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
  cuda::Bconv2dArgs args = MakeGeometry(spec, Shape(planned.inputs[0]).dims);
  args.image = Place<uint32_t>(planned.inputs[0]);
  args.filter = constants_.Get<uint32_t>(index, kFilter, channels * FilterWords(spec),
                                         [&] { return PadFilter(op); });
  args.filter_ones =
      constants_.Get<int32_t>(index, kFilterOnes, channels, [&] { return FilterOnes(op); });
  if (spec.IsPaddedWith(PadValue::kZero) || spec.IsPaddedWith(PadValue::kMinusOne)) {
    args.corner_ones = constants_.Get<int32_t>(index, kCornerOnes, CornerCount(spec),
                                               [&] { return CornerOnes(spec, op.filter.data()); });
  }
  const OutputTransform& transform = op.transform;
  cuda::Bconv2dOutput& output = args.output;
  output.dot_min = transform.range.min;
  output.dot_max = transform.range.max;
  output.zero_point = transform.zero_point;
  if (transform.kind == OutputKind::kBits) {
    output.kind = cuda::Bconv2dOutput::kBits;
    output.dot_limit =
        constants_.Get<int32_t>(index, kDotLimit, channels, [&] { return transform.dot_limit; });
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
  const cuda::Bconv2dChoice choice = cuda::SelectBconv2d(
      args, chip_,
      planned.place && !planned.place->kernel.empty() ? planned.place->kernel : kernel_);
  if (choice.row == nullptr) throw OpError(choice.error);
  return {Launch::Of(*choice.row, chip_, args)};
}

}  // namespace larq_engine
