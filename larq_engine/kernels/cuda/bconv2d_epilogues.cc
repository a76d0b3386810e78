#include "larq_engine/kernels/cuda/bconv2d_epilogues.h"

#include <algorithm>
#include <cmath>

namespace larq_engine::cuda {
namespace {

SumProgram::Range RangeOf(const PixelStep& step) {
  const bool clamps = !std::isinf(step.min) || !std::isinf(step.max);
  return {.clamps = clamps, .min = step.min, .max = step.max};
}

// The places of a SumProgram, in the order in which its steps run.
enum Place { kActivation, kProduct, kSum, kSumOut, kResidual, kOut, kPlaces };
constexpr PixelStep::Kind kKinds[kPlaces] = {
    PixelStep::kClamp, PixelStep::kMultiplyChannels, PixelStep::kAddChannels,
    PixelStep::kStore, PixelStep::kAddTensor,        PixelStep::kStore,
};

void Put(const PixelStep& step, Place place, SumProgram& program) {
  switch (place) {
    case kActivation:
      program.activation = RangeOf(step);
      break;
    case kProduct:
      program.product = {step.values, RangeOf(step)};
      break;
    case kSum:
      program.sum = {step.values, RangeOf(step)};
      break;
    case kSumOut:
      program.sum_out = step.out;
      break;
    case kResidual:
      program.residual = {step.values, RangeOf(step)};
      break;
    case kOut:
      program.out = step.out;
      break;
    case kPlaces:
      break;
  }
}

}  // namespace

std::optional<SumProgram> MakeSumProgram(const PixelProgram& program) {
  SumProgram result{};
  int place = kActivation;
  for (int i = 0; i < program.count; ++i) {
    const PixelStep& step = program.steps[i];
    while (place < kPlaces && kKinds[place] != step.kind) ++place;
    if (place == kPlaces) return std::nullopt;
    Put(step, static_cast<Place>(place), result);
    ++place;
  }
  // The residual is loaded before anything is stored, so it must not be a tensor that the launch
  // stores, which it would be in y + y.
  if (result.residual.values != nullptr && result.residual.values == result.sum_out) {
    return std::nullopt;
  }
  return result;
}

int32_t ExcessLimit(int32_t depth, int32_t dot_limit, int32_t filter_ones) {
  // No dot product is outside [-depth, depth]. As dot = depth - 2 * acc, dot < limit holds where
  // acc is greater than half of depth - limit, rounded down.
  const int64_t limit = std::clamp<int64_t>(dot_limit, -int64_t{depth}, int64_t{depth} + 1);
  const int64_t twice = depth - limit;
  return static_cast<int32_t>((twice >= 0 ? twice / 2 : -1) - filter_ones);
}

Bconv2dDivisors DivisorsOf(const Bconv2dArgs& args) {
  const auto by = [](int32_t size) { return MakeDivisor(std::max(size, 1)); };
  return {.out_width = by(args.out_width),
          .out_height = by(args.out_height),
          .half_words = by((args.out_channels + 31) / 32 * 2),
          .tap_words = by(args.tap_words),
          .filter_width = by(args.filter_width),
          .dilation_height = by(args.dilation_height),
          .dilation_width = by(args.dilation_width)};
}

Bconv2dArgs WithEpilogue(Bconv2dArgs args) {
  Bconv2dOutput& output = args.output;
  output.epilogue = Bconv2dOutput::kAny;
  if (output.kind == Bconv2dOutput::kBits && args.corner_ones == nullptr) {
    output.epilogue = Bconv2dOutput::kThreshold;
  }
  if (output.kind != Bconv2dOutput::kFloat || output.after.planes != 1) return args;
  const std::optional<SumProgram> sum = MakeSumProgram(output.after);
  if (!sum.has_value()) return args;
  output.sum = *sum;
  const bool is_store = output.after.count == 1 && output.sum.sum_out != nullptr;
  output.epilogue =
      is_store && output.after.bits == nullptr ? Bconv2dOutput::kStore : Bconv2dOutput::kSum;
  return args;
}

}  // namespace larq_engine::cuda
