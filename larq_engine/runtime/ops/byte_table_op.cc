#include "larq_engine/runtime/ops/byte_table_op.h"

#include <algorithm>
#include <cmath>

#include "larq_engine/runtime/ops/op_checks.h"
#include "larq_engine/runtime/ops/quantized_multiplier.h"
#include "larq_engine/runtime/ops/quantized_tensor.h"

namespace larq_engine {
namespace {

// The range of the ratios of two scales that the host's XNNPACK takes.
constexpr float kSmallestRatio = 0x1p-8f;
constexpr float kLargestRatio = 0x1p7f;

bool IsBytesToBytes(const OpInfo& op) {
  return op.inputs.size() == 1 && IsQuantized(op.inputs[0]) && op.inputs[0].constant == nullptr &&
         IsQuantized(op.output);
}

// Makes the table of a function of steps above the input's zero point, which returns steps above
// the output's.
template <typename Function>
ByteTableOp MakeTable(const OpInfo& op, const Function& function) {
  const TensorInfo& input = op.inputs[0];
  const FloatRange in = ByteRange(input.type);
  const FloatRange out = ByteRange(op.output.type);
  ByteTableOp made;
  for (auto byte = static_cast<int32_t>(in.min); byte <= static_cast<int32_t>(in.max); ++byte) {
    const int64_t value = function(byte - ZeroPointOf(input)) + ZeroPointOf(op.output);
    made.table[static_cast<uint8_t>(byte)] = static_cast<uint8_t>(
        std::clamp(value, static_cast<int64_t>(out.min), static_cast<int64_t>(out.max)));
  }
  return made;
}

// The outputs that hosts ask for.
constexpr float kLogisticScale = 0x1p-8f;
constexpr int32_t kLogisticZero = -128;
constexpr float kTanhScale = 0x1p-7f;

bool IsInt8Function(const OpInfo& op) {
  return IsBytesToBytes(op) && op.inputs[0].type == ElementType::kInt8;
}

// Makes the table of a function of numbers, whose results XNNPACK rounds to even.
template <typename Function>
ByteTableOp MakeFloatTable(const OpInfo& op, const Function& function) {
  return MakeTable(op, [&](int32_t steps) {
    const float value = function(static_cast<float>(steps) * op.inputs[0].scales[0]);
    return std::lrint(value / op.output.scales[0]);
  });
}

}  // namespace

bool ByteTableOp::CanClaimRescale(const OpInfo& op) { return IsBytesToBytes(op); }

// XNNPACK multiplies by the ratio of the scales in steps of 1/256 and rounds halves up. It leaves
// other ratios, and int8 from or to uint8, to the host's own kernel.
ByteTableOp ByteTableOp::ReadRescale(const OpInfo& op) {
  const TensorInfo& input = op.inputs[0];
  const float ratio = input.scales[0] / op.output.scales[0];
  if (input.type == op.output.type && ratio >= kSmallestRatio && ratio <= kLargestRatio) {
    const auto multiplier = static_cast<int32_t>(std::lrint(256 * ratio));
    return MakeTable(op, [&](int32_t steps) { return (steps * multiplier + 128) >> 8; });
  }
  const QuantizedMultiplier multiplier(double{input.scales[0]} / double{op.output.scales[0]});
  return MakeTable(op, multiplier);
}

bool ByteTableOp::CanClaimClamp(const OpInfo& op, Activation) {
  return IsInt8Function(op) && op.output.type == ElementType::kInt8;
}

// The host's own kernel computes it, and rounds the limits' halves away from zero.
ByteTableOp ByteTableOp::ReadClamp(const OpInfo& op, Activation activation) {
  const FloatRange range = ActivationRange(activation);
  const QuantizedMultiplier multiplier(double{op.inputs[0].scales[0]} /
                                       double{op.output.scales[0]});
  const auto limit = [&](float value) {
    constexpr float kMost = 1 << 9;  // no byte is that many steps above the zero point
    return static_cast<int64_t>(std::round(std::clamp(value / op.output.scales[0], -kMost, kMost)));
  };
  return MakeTable(op, [&](int32_t steps) {
    return std::clamp(multiplier(steps), limit(range.min), limit(range.max));
  });
}

bool ByteTableOp::CanClaimLogistic(const OpInfo& op) {
  return IsInt8Function(op) && HasFixedScale(op.output, kLogisticScale, kLogisticZero);
}

ByteTableOp ByteTableOp::ReadLogistic(const OpInfo& op) {
  return MakeFloatTable(op, [](float x) { return 1 / (1 + std::exp(-x)); });
}

bool ByteTableOp::CanClaimTanh(const OpInfo& op) {
  return IsInt8Function(op) && HasFixedScale(op.output, kTanhScale, 0);
}

ByteTableOp ByteTableOp::ReadTanh(const OpInfo& op) {
  return MakeFloatTable(op, [](float x) { return std::tanh(x); });
}

TensorShape ByteTableOp::Shape(std::span<const TensorShape> inputs) const {
  return CheckedShape(inputs[0].dims);
}

}  // namespace larq_engine
