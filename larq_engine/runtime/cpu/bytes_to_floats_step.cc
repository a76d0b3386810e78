// CAST and DEQUANTIZE of the host, from uint8 or int8 to floats.
#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class BytesToFloatsStep : public PixelwiseStep {
 public:
  BytesToFloatsStep(const BytesToFloatsOp& op, const StepKernels& kernels)
      : op_(op), ops_(kernels.pixel_ops) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto values = Values(range);
    auto* out = static_cast<float*>(output);
    if (op_.are_signed) {
      ops_.scale_int8(static_cast<const int8_t*>(inputs[0]), values, op_.zero_point, op_.scale,
                      out);
    } else {
      ops_.scale_uint8(static_cast<const uint8_t*>(inputs[0]), values, op_.zero_point, op_.scale,
                       out);
    }
  }

 private:
  const BytesToFloatsOp& op_;
  const PixelOps& ops_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const BytesToFloatsOp& op, const StepKernels& kernels) {
  return std::make_unique<BytesToFloatsStep>(op, kernels);
}

}  // namespace larq_engine
