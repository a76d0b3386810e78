#include "larq_engine/runtime/ops/int8_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {
namespace {

// The range of XNNPACK's multipliers: it can represent none outside.
constexpr float kSmallestMultiplier = 0x1p-32f;
constexpr float kLargestMultiplier = 256;

bool IsInt8(const TensorInfo& tensor) {
  return IsQuantized(tensor, ElementType::kInt8) && !tensor.dims.empty() &&
         (tensor.signature.empty() || tensor.signature.back() >= 0);
}

bool HasBias(const OpInfo& op) { return op.inputs.size() == 3 && op.inputs[2].present; }

bool IsInt32Bias(const OpInfo& op, int channels) {
  if (!HasBias(op)) return true;
  const TensorInfo& bias = op.inputs[2];
  return bias.type == ElementType::kInt32 && bias.constant != nullptr && bias.dims.size() == 1 &&
         bias.dims[0] == channels && bias.bytes == static_cast<size_t>(channels) * sizeof(int32_t);
}

// Returns for each output channel how many steps of the result one step of the sum is worth. The
// order of operations is XNNPACK's.
std::vector<float> Multipliers(const OpInfo& op, size_t channels) {
  const std::vector<float>& weights = op.inputs[1].scales;
  std::vector<float> multipliers(channels);
  for (size_t i = 0; i < channels; ++i) {
    const float scale = weights[weights.size() == 1 ? 0 : i];
    multipliers[i] = op.inputs[0].scales[0] * scale / op.output.scales[0];
  }
  return multipliers;
}

}  // namespace

FloatRange Int8Range(Activation activation, const TensorInfo& output) {
  const FloatRange range = ActivationRange(activation);
  const FloatRange bytes = ByteRange(ElementType::kInt8);
  const auto zero_point = static_cast<float>(ZeroPointOf(output));
  const auto quantize = [&](float value) {
    const float steps = value / output.scales[0] + zero_point;
    return std::nearbyint(std::clamp(steps, bytes.min, bytes.max)) - zero_point;
  };
  return {quantize(range.min), quantize(range.max)};
}

bool IsInt8Filter(const TensorInfo& filter) {
  const auto is_small = [](int size) { return size >= 1 && size <= kMostInt8Size; };
  return filter.present && filter.type == ElementType::kInt8 && filter.constant != nullptr &&
         filter.dims.size() == 4 && std::all_of(filter.dims.begin(), filter.dims.end(), is_small) &&
         filter.bytes == static_cast<size_t>(CountElements(filter.dims, 4));
}

bool HasLowest(const TensorInfo& weights) {
  const auto* values = static_cast<const int8_t*>(weights.constant);
  constexpr int8_t kLowest = std::numeric_limits<int8_t>::min();
  return std::find(values, values + weights.bytes, kLowest) != values + weights.bytes;
}

bool IsInt8Layer(const OpInfo& op, int channels, int scale_axis) {
  const TensorInfo& weights = op.inputs[1];
  const auto is_zero = [](int zero_point) { return zero_point == 0; };
  const auto is_usual = [](float multiplier) {
    return multiplier >= kSmallestMultiplier && multiplier < kLargestMultiplier;
  };
  if (!IsInt8(op.inputs[0]) || op.inputs[0].constant != nullptr || !IsInt8(op.output) ||
      !IsInt32Bias(op, channels) ||
      (weights.scales.size() != 1 && weights.scales.size() != static_cast<size_t>(channels)) ||
      (weights.scales.size() > 1 && weights.scale_axis != scale_axis) ||
      !std::all_of(weights.zero_points.begin(), weights.zero_points.end(), is_zero)) {
    return false;
  }
  const std::vector<float> multipliers = Multipliers(op, static_cast<size_t>(channels));
  return std::all_of(multipliers.begin(), multipliers.end(), is_usual);
}

Int8Output ReadInt8Output(const OpInfo& op, size_t channels) {
  Int8Output output = {.bias = ReadInts(HasBias(op) ? op.inputs[2] : TensorInfo()),
                       .multiplier = Multipliers(op, channels),
                       .range = Int8Range(*op.builtin_options.activation, op.output),
                       .zero_point = ZeroPointOf(op.output)};
  output.bias.resize(channels);
  return output;
}

}  // namespace larq_engine
