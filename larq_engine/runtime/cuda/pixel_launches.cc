// Makes the launches that process tensors value by value, and the program of steps that follows a
// kernel's values.
#include <algorithm>
#include <bit>

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixels_args.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/cuda/launch_sizes.h"
#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

using cuda::KernelId;
using cuda::PixelStep;

// Numbers of the arrays in DeviceConstants.
constexpr int kChannelValues = 0;
constexpr int kLimits = 1;
constexpr int kSigns = 2;

// Returns the limits as [limits][channels]; the operator may have one of each for all channels.
std::vector<float> PlaneLimits(const QuantizeOp& op, size_t channels) {
  const auto own = static_cast<size_t>(op.limit_channels);
  std::vector<float> limits(op.plane_limits.size() / own * channels);
  for (size_t i = 0; i < limits.size(); ++i) {
    limits[i] = op.plane_limits[i / channels * own + (own == 1 ? 0 : i % channels)];
  }
  return limits;
}

// Sets the strides of an operand along the dimensions of the result: 0 where the operand is
// repeated.
void SetStrides(const std::vector<int>& dims, const std::vector<int>& result, int64_t* strides) {
  int64_t stride = 1;
  for (size_t i = 0; i < result.size(); ++i) {
    const size_t to = cuda::kMaxBroadcastDims - 1 - i;
    const int size = i < dims.size() ? dims[dims.size() - 1 - i] : 1;
    strides[to] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

}  // namespace

std::vector<Launch> LaunchMaker::Make(const Chain& chain) const {
  if (program_.value(First(chain).output).bytes == 0) return {};
  return std::visit(
      [&]<typename T>(const T& op) -> std::vector<Launch> {
        if constexpr (!HasKernels<T>()) {
          return {};  // the executor refuses it
        } else if constexpr (TakesChain<T>()) {
          return Make(op, chain);
        } else {
          return Make(op, First(chain));
        }
      },
      *First(chain).op);
}

const float* LaunchMaker::ChannelConstant(size_t op, int slot, const std::vector<float>& values,
                                          size_t channels) const {
  return constants_.Get<float>(op, slot, channels,
                               [&] { return ForEachChannel(values, channels); });
}

void LaunchMaker::AddSteps(size_t index, size_t value, cuda::PixelProgram& program) const {
  const ProgramOp& op = program_.op(index);
  const auto channels = static_cast<size_t>(ChannelsOf(Shape(value)));
  if (const auto* quantize = std::get_if<QuantizeOp>(op.op.get())) {
    program.bits = Place<uint32_t>(op.output);
    if (quantize->bits > 1) {
      program.planes = static_cast<int32_t>(quantize->bits);
      program.limits = constants_.Get<float>(
          index, kLimits, channels * static_cast<size_t>(LargestOf(quantize->bits)),
          [&] { return PlaneLimits(*quantize, channels); });
      program.signs = constants_.Get<uint32_t>(index, kSigns, channels,
                                               [&] { return std::vector<uint32_t>(channels); });
      return;
    }
    if (!quantize->limits.has_value()) return;
    program.limits = ChannelConstant(index, kLimits, quantize->limits->limits, channels);
    program.signs = constants_.Get<uint32_t>(
        index, kSigns, channels, [&] { return ForEachChannel(quantize->limits->signs, channels); });
    return;
  }
  PixelStep step{};
  const auto set_range = [&](Activation activation) {
    const FloatRange range = ActivationRange(activation);
    step.min = range.min;
    step.max = range.max;
  };
  if (const auto* binary = std::get_if<BinaryOp>(op.op.get())) {
    const bool adds = binary->kind == ChannelOp::kAdd;
    set_range(binary->activation);
    if (op.inputs.size() == 1) {
      step.kind = adds ? PixelStep::kAddChannels : PixelStep::kMultiplyChannels;
      step.values = ChannelConstant(index, kChannelValues, binary->constant, channels);
    } else {
      step.kind = adds ? PixelStep::kAddTensor : PixelStep::kMultiplyTensor;
      step.values = Place<float>(op.inputs[op.inputs[0] == value ? 1 : 0]);
    }
  } else if (const auto* clamp = std::get_if<ClampOp>(op.op.get())) {
    step.kind = PixelStep::kClamp;
    set_range(clamp->activation);
  } else if (const auto* prelu = std::get_if<PreluOp>(op.op.get())) {
    step.kind = PixelStep::kPrelu;
    step.values = ChannelConstant(index, kChannelValues, prelu->slopes, channels);
  } else {
    return;  // a RESHAPE changes no value
  }
  program.steps[program.count++] = step;
}

cuda::PixelProgram LaunchMaker::MakeProgram(const Chain& chain, size_t first,
                                            const PixelStep* own) const {
  cuda::PixelProgram program{};
  if (own != nullptr) program.steps[program.count++] = *own;
  const auto store = [&](size_t i) {
    const size_t output = program_.op(chain.ops[i]).output;
    if (!chain.stores[i] || program.bits != nullptr) return;
    PixelStep step{};
    step.kind = PixelStep::kStore;
    step.out = Place<float>(output);
    program.steps[program.count++] = step;
  };
  if (first > 0) store(first - 1);
  for (size_t i = first; i < chain.ops.size(); ++i) {
    const size_t value =
        i > 0 ? program_.op(chain.ops[i - 1]).output : program_.op(chain.ops[0]).inputs[0];
    AddSteps(chain.ops[i], value, program);
    store(i);
  }
  return program;
}

std::vector<Launch> LaunchMaker::MakePixels(const Chain& chain, size_t first,
                                            cuda::PixelsArgs args) const {
  const ProgramOp& planned = First(chain);
  // This is the shape of the values that the program begins with.
  const TensorShape& shape = Shape(first == 0 ? planned.inputs[0] : planned.output);
  if (args.bits == nullptr && args.bytes == nullptr) {
    args.floats = Place<float>(planned.inputs[0]);
  }
  args.pixels = PixelsOf(shape);
  args.channels = static_cast<int32_t>(ChannelsOf(shape));
  args.program = MakeProgram(chain, first);
  return {Launch::OfPixels(cuda::PixelsRows(), args)};
}

std::vector<Launch> LaunchMaker::Make(const ClampOp&, const Chain& chain) const {
  return MakePixels(chain, 0);
}

std::vector<Launch> LaunchMaker::Make(const PreluOp&, const Chain& chain) const {
  return MakePixels(chain, 0);
}

std::vector<Launch> LaunchMaker::Make(const UnaryOp& op, const Chain& chain) const {
  cuda::PixelsArgs args{};
  switch (op.function) {
    case UnaryOp::kLogistic:
      args.function = cuda::UnaryFunction::kLogistic;
      break;
  }
  return MakePixels(chain, 1, args);
}

std::vector<Launch> LaunchMaker::Make(const BytesToFloatsOp& op, const Chain& chain) const {
  cuda::PixelsArgs args{};
  args.bytes = Place<uint8_t>(First(chain).inputs[0]);
  args.bytes_are_signed = op.are_signed;
  args.zero_point = op.zero_point;
  args.scale = op.scale;
  return MakePixels(chain, 1, args);
}

// Copies the input.
std::vector<Launch> LaunchMaker::Make(const ReshapeOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  if (program_.value(planned.output).is_float) return MakePixels(chain, 1);
  cuda::CopyChannelsArgs args{};
  args.in = Place<std::byte>(planned.inputs[0]);
  args.out = Place<std::byte>(planned.output);
  args.unit_bytes = static_cast<int32_t>(op.element_bytes);
  args.pixels = PixelsOf(Shape(planned.output));
  args.out_units = static_cast<int32_t>(ChannelsOf(Shape(planned.output)));
  args.in_units = cuda::MakeDivisor(args.out_units);
  return {Launch::Of(KernelId::copy_channels, ThreadForEach(args.pixels * args.out_units), args)};
}

std::vector<Launch> LaunchMaker::Make(const BinaryOp& op, const Chain& chain) const {
  if (op.IsAlike(program_.InputShapes(First(chain)))) return MakePixels(chain, 0);
  return {MakeBroadcast(op, chain.ops[0])};
}

Launch LaunchMaker::MakeBroadcast(const BinaryOp& op, size_t index) const {
  const ProgramOp& planned = program_.op(index);
  const std::vector<int>& result = Shape(planned.output).dims;
  const std::vector<std::vector<int>> operands = op.OperandDims(program_.InputShapes(planned));
  cuda::BroadcastArgs args{};
  std::fill_n(args.dims, cuda::kMaxBroadcastDims, cuda::MakeDivisor(1));
  std::transform(result.begin(), result.end(), args.dims + cuda::kMaxBroadcastDims - result.size(),
                 cuda::MakeDivisor);
  for (size_t i = 0; i < 2; ++i) SetStrides(operands[i], result, args.strides[i]);
  if (!op.constant.empty()) {
    args.operands[0] = args.operands[1] =
        ChannelConstant(index, kChannelValues, op.constant, op.constant.size());
  }
  for (size_t i = 0; i < planned.inputs.size(); ++i) {
    args.operands[op.data_inputs[i]] = Place<float>(planned.inputs[i]);
  }
  const FloatRange range = ActivationRange(op.activation);
  args.min = range.min;
  args.max = range.max;
  args.multiplies = op.kind == ChannelOp::kMultiply;
  args.count = CountElements(result, result.size());
  args.out = Place<float>(planned.output);
  return Launch::Of(KernelId::broadcast, ThreadForEach(args.count), args);
}

std::vector<Launch> LaunchMaker::Make(const QuantizeOp& op, const Chain& chain) const {
  if (op.from == ElementType::kFloat32) return MakePixels(chain, 0);
  const ProgramOp& planned = First(chain);
  const TensorShape& shape = Shape(planned.inputs[0]);
  cuda::PackBytesArgs args{};
  args.in = Place<int8_t>(planned.inputs[0]);
  args.pixels = PixelsOf(shape);
  args.channels = static_cast<int32_t>(ChannelsOf(shape));
  args.planes = static_cast<int32_t>(op.bits);
  args.is_bool = op.from == ElementType::kBool;
  args.limit = op.zero_point;
  args.out = Place<uint32_t>(planned.output);
  return {Launch::Of(KernelId::pack_bytes, WarpForEachWord(args.pixels, args.channels), args)};
}

std::vector<Launch> LaunchMaker::Make(const DequantizeOp& op, const Chain& chain) const {
  const ProgramOp& planned = First(chain);
  const auto* in = Place<uint32_t>(planned.inputs[0]);
  if (op.to == ElementType::kFloat32) {
    cuda::PixelsArgs args{};
    args.bits = in;
    return MakePixels(chain, 1, args);
  }
  cuda::UnpackBytesArgs args{};
  args.in = in;
  args.pixels = PixelsOf(Shape(planned.output));
  args.channels = op.channels;
  args.plus = op.to == ElementType::kBool ? 1 : op.plus;
  args.minus = op.to == ElementType::kBool ? 0 : op.minus;
  args.out = Place<int8_t>(planned.output);
  return {Launch::Of(KernelId::unpack_bytes, ThreadForEach(args.pixels * op.channels), args)};
}

std::vector<Launch> LaunchMaker::Make(const ConcatenationOp& op, const ProgramOp& planned) const {
  cuda::CopyChannelsArgs args{};
  args.unit_bytes = op.element_bytes % sizeof(uint32_t) == 0 ? sizeof(uint32_t) : 1;
  const auto units = [&](size_t value) {
    return static_cast<int32_t>(ChannelsOf(Shape(value)) * static_cast<int64_t>(op.element_bytes) /
                                args.unit_bytes);
  };
  args.out = Place<std::byte>(planned.output);
  args.out_units = units(planned.output);
  args.pixels = PixelsOf(Shape(planned.output));
  std::vector<Launch> launches;
  for (size_t input : planned.inputs) {
    args.in = Place<std::byte>(input);
    const int32_t in_units = units(input);
    if (in_units == 0) continue;
    args.in_units = cuda::MakeDivisor(in_units);
    launches.push_back(
        Launch::Of(KernelId::copy_channels, ThreadForEach(args.pixels * in_units), args));
    args.first_unit += in_units;
  }
  return launches;
}

std::vector<Launch> LaunchMaker::Make(const PadOp& op, const ProgramOp& planned) const {
  static_assert(PadOp::kMaxDims == cuda::kMaxBoxDims);
  std::vector<int64_t> before;
  for (const std::array<int, 2>& pads : op.pads) before.push_back(pads[0]);
  return {MakeBox(planned, before, std::bit_cast<uint32_t>(op.value))};
}

std::vector<Launch> LaunchMaker::Make(const SliceOp& op, const ProgramOp& planned) const {
  static_assert(SliceOp::kMaxDims == cuda::kMaxBoxDims);
  std::vector<int64_t> before;
  for (const SliceOp::Range& range : op.Ranges(Shape(planned.inputs[0]).dims)) {
    before.push_back(-range.begin);
  }
  return {MakeBox(planned, before)};
}

Launch LaunchMaker::MakeBox(const ProgramOp& planned, std::span<const int64_t> before,
                            uint32_t around) const {
  const std::vector<int>& in = Shape(planned.inputs[0]).dims;
  const std::vector<int>& out = Shape(planned.output).dims;
  cuda::PadArgs args{};
  args.in = Place<std::byte>(planned.inputs[0]);
  args.out = Place<std::byte>(planned.output);
  args.unit_bytes = static_cast<int32_t>(program_.value(planned.output).element_bytes);
  args.count = CountElements(out, out.size());
  args.around = around;
  std::fill_n(args.in_dims, cuda::kMaxBoxDims, 1);
  std::fill_n(args.out_dims, cuda::kMaxBoxDims, cuda::MakeDivisor(1));
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t to = cuda::kMaxBoxDims - in.size() + i;
    args.in_dims[to] = in[i];
    args.out_dims[to] = cuda::MakeDivisor(out[i]);
    args.before[to] = static_cast<int32_t>(before[i]);
  }
  return Launch::Of(KernelId::pad, ThreadForEach(args.count), args);
}

std::vector<Launch> LaunchMaker::Make(const SoftmaxOp& op, const ProgramOp& planned) const {
  cuda::SoftmaxArgs args{};
  args.in = Place<float>(planned.inputs[0]);
  args.out = Place<float>(planned.output);
  args.rows = PixelsOf(Shape(planned.output));
  args.count = static_cast<int32_t>(ChannelsOf(Shape(planned.output)));
  args.beta = op.beta;
  return {Launch::Of(KernelId::softmax, ThreadForEach(args.rows * 32), args)};
}

}  // namespace larq_engine
