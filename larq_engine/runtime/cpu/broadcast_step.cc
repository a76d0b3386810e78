#include "larq_engine/runtime/cpu/broadcast_step.h"

#include <algorithm>

#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {

std::vector<std::vector<int>> BroadcastStep::OperandDims(
    std::span<const TensorShape> inputs) const {
  std::vector<std::vector<int>> operands;
  for (const TensorShape& input : inputs) operands.push_back(input.dims);
  return operands;
}

void BroadcastStep::Resize(std::span<const TensorShape> inputs, const TensorShape& output) {
  const std::vector<std::vector<int>> operands = OperandDims(inputs);
  const int64_t channels = Channels(output.dims);
  const int64_t of_output = CountElements(output.dims, output.dims.size());
  roles_.clear();
  for (const std::vector<int>& dims : operands) {
    const int64_t values = CountElements(dims, dims.size());
    const bool has_channels = Channels(dims) == channels;
    const bool is_of_channels = values == channels && has_channels;
    // Dimensions of 1 in front may be missing.
    const bool is_alike = dims == output.dims || (values == of_output && has_channels);
    roles_.push_back(is_alike                          ? kAlike
                     : values == 1                     ? kOne
                     : is_of_channels                  ? kChannels
                     : HasOneAPixel(dims, output.dims) ? kOneAPixel
                                                       : kOther);
  }
  const auto count = [&](Role role) { return std::count(roles_.begin(), roles_.end(), role); };
  pixelwise_ = count(kAlike) + count(kOneAPixel) > 0 && count(kOther) == 0;
  lines_ = BroadcastLines(operands, output.dims);
  pixels_ = of_output == 0 ? 0 : pixelwise_ ? CountPixels(output.dims) : lines_.lines();
  values_ = pixelwise_ ? channels : lines_.values();
  blocks_ = ValueBlocks(values_);
}

// Returns where the operands have the values for a pixel, from number `first` of its values on.
BroadcastStep::Operands BroadcastStep::OperandsOf(std::span<const void* const> inputs,
                                                  const StepRange& range, int64_t pixel,
                                                  int64_t first) const {
  Operands operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_one = pixelwise_ ? roles_[i] == kOne || roles_[i] == kOneAPixel : lines_.IsOne(i);
    int64_t begin = is_one ? 0 : first;
    if (!pixelwise_) {
      begin += lines_.Begin(i, pixel);
    } else if (roles_[i] == kAlike) {
      begin += (pixel - range.first_pixel) * values_;
    } else if (roles_[i] == kOneAPixel) {
      begin += pixel - range.first_pixel;
    }
    const auto* values = static_cast<const std::byte*>(inputs[i]);
    operands[i] = {values + static_cast<size_t>(begin) * input_bytes_[i], is_one};
  }
  return operands;
}

void BroadcastStep::Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
                        void* output) const {
  const auto run = [&](int64_t pixel, int64_t first, int64_t count) {
    const Operands operands = OperandsOf(inputs, range, pixel, first);
    const int64_t begin = (pixel - range.first_pixel) * values_ + first;
    RunLine({operands.data(), inputs.size()}, static_cast<size_t>(count),
            static_cast<std::byte*>(output) + static_cast<size_t>(begin) * output_bytes_);
  };
  const bool is_of_values = std::all_of(roles_.begin(), roles_.end(),
                                        [](Role role) { return role == kAlike || role == kOne; });
  if (pixelwise_ && is_of_values) {
    return blocks_.ForEachStretch(
        range, [&](int64_t first, int64_t count) { run(range.first_pixel, first, count); });
  }
  const auto [first, count] = blocks_.Within(range);
  for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
    run(pixel, first, count);
  }
}

}  // namespace larq_engine
