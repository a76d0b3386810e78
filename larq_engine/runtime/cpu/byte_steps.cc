// QUANTIZE of the host, and functions of a byte.
#include <algorithm>

#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class FloatsToBytesStep : public PixelwiseStep {
 public:
  FloatsToBytesStep(const FloatsToBytesOp& op, const PixelOps& ops) : op_(op), ops_(ops) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.round_floats(static_cast<const float*>(inputs[0]), static_cast<size_t>(Values(range)),
                      op_.steps, op_.range, op_.zero_point, static_cast<int8_t*>(output));
  }

 private:
  const FloatsToBytesOp& op_;
  const PixelOps& ops_;
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

std::unique_ptr<Step> MakeStep(const FloatsToBytesOp& op, const StepKernels& kernels) {
  return std::make_unique<FloatsToBytesStep>(op, kernels.pixel_ops);
}

std::unique_ptr<Step> MakeStep(const ByteTableOp& op, const StepKernels&) {
  return std::make_unique<ByteTableStep>(op);
}

}  // namespace larq_engine
