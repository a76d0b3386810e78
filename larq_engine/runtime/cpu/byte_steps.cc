// QUANTIZE of the host, and functions of a byte. Plain loops compute them.
#include <algorithm>

#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class FloatsToBytesStep : public PixelwiseStep {
 public:
  explicit FloatsToBytesStep(const FloatsToBytesOp& op) : op_(op) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const float*>(inputs[0]);
    const FloatsToBytesOp op = op_;  // a copy stays in registers
    std::transform(in, in + Values(range), static_cast<int8_t*>(output), [&op](float value) {
      value *= op.steps;
      value = value < op.range.max ? value : op.range.max;  // also if it is NaN
      return RoundToInt8(value, op.range, op.zero_point);
    });
  }

 private:
  const FloatsToBytesOp& op_;
};

class ByteTableStep : public PixelwiseStep {
 public:
  explicit ByteTableStep(const ByteTableOp& op) : op_(op) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const uint8_t*>(inputs[0]);
    std::transform(in, in + Values(range), static_cast<uint8_t*>(output),
                   [&](uint8_t byte) { return op_.table[byte]; });
  }

 private:
  const ByteTableOp& op_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const FloatsToBytesOp& op, const StepKernels&) {
  return std::make_unique<FloatsToBytesStep>(op);
}

std::unique_ptr<Step> MakeStep(const ByteTableOp& op, const StepKernels&) {
  return std::make_unique<ByteTableStep>(op);
}

}  // namespace larq_engine
