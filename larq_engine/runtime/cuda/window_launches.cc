// Makes the launches of windows that slide over images of floats, and of max pools of bits. A dense
// layer or a mean is such a window, with one position in an image. Dense layers with weights of one
// bit have kernels of their own.
#include <algorithm>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixel_rows.h"
#include "larq_engine/kernels/cuda/pixels_args.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/cuda/launch_sizes.h"
#include "larq_engine/runtime/cuda/window_pairs.h"
#include "larq_engine/runtime/ops/op_checks.h"

namespace larq_engine {
namespace {

using cuda::ImageWindow;
using cuda::KernelId;
using cuda::PixelStep;

// Numbers of the arrays in DeviceConstants.
struct WindowSlot {
  enum : int { kFilter, kBias, kScale, kWeight };
};

PixelStep MakeClamp(Activation activation) {
  const FloatRange range = ActivationRange(activation);
  PixelStep step{};
  step.kind = PixelStep::kClamp;
  step.min = range.min;
  step.max = range.max;
  return step;
}

// Returns the filter with its rows padded to `row` floats; see Conv2dArgs.
std::vector<float> PadFilter(const float* filter, int64_t rows, int64_t depth, int64_t row) {
  std::vector<float> padded(static_cast<size_t>(rows * row), -0.0f);
  for (int64_t n = 0; n < rows; ++n) {
    std::copy_n(filter + n * depth, depth, padded.data() + n * row);
  }
  return padded;
}

// Returns the signs of the weights as words; see SignedDenseArgs.
std::vector<uint32_t> SignsOf(const PackedWeights& weights, size_t units, size_t depth) {
  const size_t lanes = WordsFor(units) * kWordBits;
  std::vector<uint32_t> signs(WordsFor(depth) * lanes);
  for (size_t unit = 0; unit < units; ++unit) {
    for (size_t i = 0; i < depth; i += kWordBits) {
      signs[i / kWordBits * lanes + unit] =
          BitsFrom(weights.bits, unit * depth + i, std::min(kWordBits, depth - i));
    }
  }
  return signs;
}

cuda::LaunchSize WarpForRows(int64_t rows, int32_t units) {
  return WarpForEachWord((rows + cuda::kSignedDenseRows - 1) / cuda::kSignedDenseRows, units);
}

}  // namespace

// Returns the program with a step that clamps before the chain's others, unless the activation
// changes no value.
cuda::PixelProgram LaunchMaker::MakeClampedProgram(const Chain& chain,
                                                   Activation activation) const {
  const PixelStep clamp = MakeClamp(activation);
  return MakeProgram(chain, 1, activation == Activation::kNone ? nullptr : &clamp);
}

std::vector<Launch> LaunchMaker::Make(const MaxPool2dOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  if (chain.ops.size() > 1) {
    const ProgramOp& next = program_.op(chain.ops[1]);
    if (auto pooled = FindPooledConv(program_, planned, next)) {
      const PixelStep bias = FillDepthwise(std::get<Conv2dOp>(*next.op), chain, 1, pooled->conv);
      pooled->conv.program = MakeProgram(chain, 2, &bias);
      return {Launch::OfPixels(cuda::PooledDepthwiseRows(), *pooled)};
    }
  }
  cuda::PoolArgs args{};
  args.window = MakeWindow(op.window, Shape(planned.inputs[0]).dims);
  if (op.of_bits) {
    args.bits = Place<uint32_t>(planned.inputs[0]);
    args.bits_out = Place<uint32_t>(planned.output);
    args.lanes = cuda::MakeDivisor(args.window.channels);
    const int64_t pixels = PixelsOf(Shape(planned.output));
    return {
        Launch::Of(KernelId::max_pool_bits, ThreadForEach(pixels * args.window.channels), args)};
  }
  args.floats = Place<float>(planned.inputs[0]);
  args.program = MakeClampedProgram(chain, op.activation);
  return {Launch::OfPixels(cuda::MaxPoolRows(), args)};
}

std::vector<Launch> LaunchMaker::Make(const AveragePool2dOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  cuda::PoolArgs args{};
  args.window = MakeWindow(op.window, Shape(planned.inputs[0]).dims);
  args.floats = Place<float>(planned.inputs[0]);
  args.program = MakeClampedProgram(chain, op.activation);
  return {Launch::OfPixels(cuda::AveragePoolRows(), args)};
}

std::vector<Launch> LaunchMaker::Make(const MeanOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  const std::vector<int> image = op.ImageDims(Shape(planned.inputs[0]).dims);
  cuda::PoolArgs args{};
  args.window = MakeWindow(MeanOp::Window(image), image);
  args.floats = Place<float>(planned.inputs[0]);
  args.program = MakeProgram(chain, 1);
  return {Launch::OfPixels(cuda::AveragePoolRows(), args)};
}

PixelStep LaunchMaker::MakeBias(size_t op, const std::vector<float>& bias,
                                Activation activation) const {
  PixelStep step = MakeClamp(activation);
  step.kind = PixelStep::kAddChannels;
  step.values = ChannelConstant(op, WindowSlot::kBias, bias, bias.size());
  return step;
}

void LaunchMaker::FillConv(const Chain& chain, size_t own, const ConstantValues<float>& filter,
                           int64_t depth, const PixelStep& bias, cuda::Conv2dArgs& args) const {
  const int row = CheckedSize((depth + cuda::kConvStep - 1) / cuda::kConvStep * cuda::kConvStep);
  args.image = Place<float>(First(chain).inputs[0]);
  args.filter = constants_.Get<float>(
      chain.ops[own], WindowSlot::kFilter,
      static_cast<size_t>(args.out_channels) * static_cast<size_t>(row),
      [&] { return PadFilter(filter.data(), args.out_channels, depth, row); });
  args.filter_row = row;
  args.line = cuda::MakeDivisor(std::max(1, args.window.filter_width * args.window.channels));
  args.program = MakeProgram(chain, own + 1, &bias);
}

Launch LaunchMaker::MakeConv(const Chain& chain, const ImageWindow& window,
                             const ConstantValues<float>& filter, int out_channels, int64_t depth,
                             const PixelStep& bias) const {
  cuda::Conv2dArgs args{};
  args.out_channels = out_channels;
  args.window = window;
  FillConv(chain, 0, filter, depth, bias, args);
  const cuda::Conv2dRow& row = cuda::SelectConv2d(args, chip_);
  args.channel_tiles = cuda::MakeDivisor(row.channel_tiles(args));
  return Launch::Of(row.kernel, row.size(args), args);
}

std::vector<Launch> LaunchMaker::Make(const Conv2dOp& op, const Chain& chain) const {
  const std::vector<int>& in = Shape(First(chain).inputs[0]).dims;
  if (!op.spec.is_depthwise) {
    return {MakeConv(chain, MakeWindow(op.spec.window, in), op.filter,
                     static_cast<int>(op.spec.out_channels), op.spec.depth(),
                     MakeBias(chain.ops[0], op.bias, op.activation))};
  }
  if (chain.ops.size() > 1) {
    const ProgramOp& next = program_.op(chain.ops[1]);
    if (auto args = FindDepthwisePointwise(program_, First(chain), next)) {
      return {MakeDepthwisePointwise(op, std::get<Conv2dOp>(*next.op), chain, *args)};
    }
  }
  cuda::DepthwiseArgs args = MakeDepthwise(op, in);
  const PixelStep bias = FillDepthwise(op, chain, 0, args);
  args.program = MakeProgram(chain, 1, &bias);
  return {Launch::OfPixels(cuda::DepthwiseRows(), args)};
}

Launch LaunchMaker::MakeDepthwisePointwise(const Conv2dOp& depthwise, const Conv2dOp& pointwise,
                                           const Chain& chain,
                                           cuda::DepthwisePointwiseArgs& args) const {
  args.depthwise.program.steps[0] = FillDepthwise(depthwise, chain, 0, args.depthwise);
  args.depthwise.program.count = 1;
  FillConv(chain, 1, pointwise.filter, pointwise.spec.depth(),
           MakeBias(chain.ops[1], pointwise.bias, pointwise.activation), args.pointwise);
  const cuda::Conv2dRow& row = cuda::SelectDepthwisePointwise(args.pointwise, chip_);
  args.pointwise.channel_tiles = cuda::MakeDivisor(row.channel_tiles(args.pointwise));
  return Launch::Of(row.kernel, row.size(args.pointwise), args);
}

PixelStep LaunchMaker::FillDepthwise(const Conv2dOp& op, const Chain& chain, size_t own,
                                     cuda::DepthwiseArgs& args) const {
  const auto weights = static_cast<size_t>(op.spec.depth() * op.spec.out_channels);
  args.image = Place<float>(First(chain).inputs[0]);
  args.filter = constants_.Get<float>(chain.ops[own], WindowSlot::kFilter, weights, [&] {
    return std::vector<float>(op.filter.data(), op.filter.data() + weights);
  });
  return MakeBias(chain.ops[own], op.bias, op.activation);
}

// Computes the rows of the input as images of one pixel.
std::vector<Launch> LaunchMaker::Make(const DenseOp& op, const Chain& chain) const {
  const int rows = CheckedSize(PixelsOf(Shape(First(chain).output)));
  return {MakeConv(chain, MakeWindow(Window2d{}, {rows, 1, 1, op.depth}), op.weights, op.units,
                   op.depth, MakeBias(chain.ops[0], op.bias, op.activation))};
}

const uint32_t* LaunchMaker::MakeSigns(const SignedDenseOp& op, const Chain& chain) const {
  const auto units = static_cast<size_t>(op.shape.units);
  const auto depth = static_cast<size_t>(op.shape.depth);
  return constants_.Get<uint32_t>(chain.ops[0], WindowSlot::kFilter,
                                  WordsFor(depth) * WordsFor(units) * kWordBits,
                                  [&] { return SignsOf(op.weights.packed, units, depth); });
}

std::vector<Launch> LaunchMaker::Make(const BmatmulOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  const std::vector<int>& output = Shape(planned.output).dims;
  const auto bits_of_last = static_cast<uint32_t>(op.spec.depth % kWordBits);
  cuda::BmatmulArgs args{};
  args.left = Place<uint32_t>(planned.inputs[0]);
  args.right = Place<uint32_t>(planned.inputs[1]);
  args.pixels = PixelsOf(Shape(planned.output));
  args.rows = cuda::MakeDivisor(output[output.size() - 2]);
  args.columns = output.back();
  args.words = Shape(planned.inputs[0]).dims.back();
  args.last_word = bits_of_last == 0 ? ~uint32_t{0} : (uint32_t{1} << bits_of_last) - 1;
  args.depth = CheckedSize(op.spec.depth);
  args.of_dot = op.spec.of_dot;
  args.of_left = op.spec.of_left;
  args.of_right = op.spec.of_right;
  args.constant = op.spec.constant;
  args.program = MakeProgram(chain, 1);
  return {Launch::Of(KernelId::bmatmul, WarpForEachWord(args.pixels, args.columns), args)};
}

std::vector<Launch> LaunchMaker::Make(const SignedDenseOp& op, const Chain& chain) const {
  return {std::visit([&](const auto& output) { return MakeSignedDense(op, output, chain); },
                     op.output)};
}

Launch LaunchMaker::MakeSignedDense(const SignedDenseOp& op, const FloatDenseOutput& output,
                                    const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  const size_t index = chain.ops[0];
  const auto units = static_cast<size_t>(op.shape.units);
  PixelStep bias{};
  bias.kind = PixelStep::kAddChannels;
  bias.min = output.range.min;
  bias.max = output.range.max;
  bias.values = ChannelConstant(index, WindowSlot::kBias, output.bias, units);
  cuda::SignedDenseArgs args{};
  args.in = Place<float>(planned.inputs[0]);
  args.signs = MakeSigns(op, chain);
  args.scale = ChannelConstant(index, WindowSlot::kScale, output.scale, units);
  args.rows = PixelsOf(Shape(planned.output));
  args.depth = op.shape.depth;
  args.units = op.shape.units;
  args.program = MakeProgram(chain, 1, &bias);
  return Launch::Of(KernelId::signed_dense, WarpForRows(args.rows, args.units), args);
}

Launch LaunchMaker::MakeSignedDense(const SignedDenseOp& op, const Int8DenseOutput& output,
                                    const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  const auto ints = [&](int slot, const std::vector<int32_t>& values) {
    return constants_.Get<int32_t>(chain.ops[0], slot, values.size(), [&] { return values; });
  };
  cuda::SignedDenseInt8Args args{};
  args.in = Place<int8_t>(planned.inputs[0]);
  args.signs = MakeSigns(op, chain);
  args.weight = ints(WindowSlot::kWeight, output.weight);
  args.bias = ints(WindowSlot::kBias, output.bias);
  args.multiplier = ChannelConstant(chain.ops[0], WindowSlot::kScale, output.multiplier,
                                    output.multiplier.size());
  args.min = output.range.min;
  args.max = output.range.max;
  args.zero_point = output.zero_point;
  args.rows = PixelsOf(Shape(planned.output));
  args.depth = op.shape.depth;
  args.units = op.shape.units;
  args.out = Place<int8_t>(planned.output);
  return Launch::Of(KernelId::signed_dense_int8, WarpForRows(args.rows, args.units), args);
}

}  // namespace larq_engine
