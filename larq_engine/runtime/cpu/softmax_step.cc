// SOFTMAX of the host.
#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class SoftmaxStep : public PixelwiseStep {
 public:
  SoftmaxStep(const SoftmaxOp& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), beta_(op.beta) {}

  KernelPixels kernel_pixels() const override { return {.tile = 1}; }
  bool in_place() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.softmax(static_cast<const float*>(inputs[0]), Pixels(range), channels(), beta_,
                 static_cast<float*>(output));
  }

 private:
  const PixelOps& ops_;
  float beta_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SoftmaxOp& op, const StepKernels& kernels) {
  return std::make_unique<SoftmaxStep>(op, kernels);
}

}  // namespace larq_engine
