// SOFTMAX of the host.
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class SoftmaxStep : public Step {
 public:
  SoftmaxStep(const SoftmaxOp& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), beta_(op.beta) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    channels_ = static_cast<size_t>(Channels(output.dims));
    rows_ = CountPixels(output.dims);
  }
  int64_t pixels() const override { return rows_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }
  bool pixelwise() const override { return true; }
  bool in_place() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.softmax(static_cast<const float*>(inputs[0]),
                 static_cast<size_t>(range.last_pixel - range.first_pixel), channels_, beta_,
                 static_cast<float*>(output));
  }

 private:
  const PixelOps& ops_;
  float beta_;
  size_t channels_ = 0;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SoftmaxOp& op, const StepKernels& kernels) {
  return std::make_unique<SoftmaxStep>(op, kernels);
}

}  // namespace larq_engine
