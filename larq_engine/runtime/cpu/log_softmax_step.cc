// LOG_SOFTMAX of the host.
#include "larq_engine/kernels/layers/log_softmax.h"
#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class LogSoftmaxStep : public PixelwiseStep {
 public:
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }
  bool in_place() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    LogSoftmax(static_cast<const float*>(inputs[0]), Pixels(range), channels(),
               static_cast<float*>(output));
  }
};

}  // namespace

std::unique_ptr<Step> MakeStep(const LogSoftmaxOp&, const StepKernels&) {
  return std::make_unique<LogSoftmaxStep>();
}

}  // namespace larq_engine
