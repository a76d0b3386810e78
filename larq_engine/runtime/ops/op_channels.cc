#include "larq_engine/runtime/ops/op_channels.h"

#include <cstddef>

namespace larq_engine {
namespace {

// Tells whether there is one value for all channels, or one for each.
template <typename T>
bool IsOfChannels(const std::vector<T>& values, int64_t channels) {
  return values.size() == 1 || static_cast<int64_t>(values.size()) == channels;
}

template <typename T>
void KeepChannels(int64_t first, int64_t count, std::vector<T>& values) {
  if (values.size() == 1) return;
  values = {values.begin() + static_cast<std::ptrdiff_t>(first),
            values.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

}  // namespace

bool IsChannelwise(const Op& op, int64_t channels) {
  if (const auto* quantize = std::get_if<QuantizeOp>(&op)) {
    return quantize->from == ElementType::kFloat32 && quantize->bits == 1 &&
           (!quantize->limits.has_value() || IsOfChannels(quantize->limits->limits, channels));
  }
  if (const auto* binary = std::get_if<BinaryOp>(&op)) {
    return binary->data_inputs.size() == 1 && IsOfChannels(binary->constant, channels);
  }
  if (const auto* prelu = std::get_if<PreluOp>(&op)) return IsOfChannels(prelu->slopes, channels);
  if (const auto* pool = std::get_if<MaxPool2dOp>(&op)) return !pool->of_bits;
  return std::holds_alternative<ClampOp>(op);
}

Op OfChannels(const Op& op, int64_t first, int64_t count) {
  Op some = op;
  if (auto* quantize = std::get_if<QuantizeOp>(&some)) {
    if (!quantize->limits.has_value()) return some;
    KeepChannels(first, count, quantize->limits->limits);
    KeepChannels(first, count, quantize->limits->signs);
  } else if (auto* binary = std::get_if<BinaryOp>(&some)) {
    KeepChannels(first, count, binary->constant);
  } else if (auto* prelu = std::get_if<PreluOp>(&some)) {
    KeepChannels(first, count, prelu->slopes);
  }
  return some;
}

}  // namespace larq_engine
