// AVERAGE_POOL_2D and MEAN of the host.
#include <algorithm>
#include <limits>

#include "larq_engine/kernels/pool.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class AveragePoolStep : public Step {
 public:
  AveragePoolStep(Activation activation, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), activation_(activation) {}

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    auto* out = static_cast<float*>(output);
    const size_t values = static_cast<size_t>(range.last_pixel - range.first_pixel) * values_;
    if (height_.taps == 0) {  // the mean of nothing
      std::fill_n(out, values, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    AveragePool2d(static_cast<const float*>(inputs[0]), height_, width_, values_, range.first_pixel,
                  range.last_pixel, ops_.average, out);
    if (activation_ == Activation::kNone) return;
    ops_.clamp(out, values, ActivationRange(activation_), out);
  }

 protected:
  void SetImage(const std::vector<int>& image, const Window2d& window, const TensorShape& output) {
    height_ = window.Height(image[1]);
    width_ = window.Width(image[2]);
    values_ = static_cast<size_t>(image[3]);
    pixels_ = CountPixels(output.dims);
  }

 private:
  const PixelOps& ops_;
  Activation activation_;
  WindowAxis height_;
  WindowAxis width_;
  int64_t pixels_ = 0;
  size_t values_ = 0;
};

class AveragePool2dStep : public AveragePoolStep {
 public:
  AveragePool2dStep(const AveragePool2dOp& op, const StepKernels& kernels)
      : AveragePoolStep(op.activation, kernels), op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    SetImage(inputs[0].dims, op_.window, output);
  }

 private:
  const AveragePool2dOp& op_;
};

class MeanStep : public AveragePoolStep {
 public:
  MeanStep(const MeanOp& op, const StepKernels& kernels)
      : AveragePoolStep(Activation::kNone, kernels), op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int> image = op_.ImageDims(inputs[0].dims);
    SetImage(image, MeanOp::Window(image), output);
  }

 private:
  const MeanOp& op_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const AveragePool2dOp& op, const StepKernels& kernels) {
  return std::make_unique<AveragePool2dStep>(op, kernels);
}

std::unique_ptr<Step> MakeStep(const MeanOp& op, const StepKernels& kernels) {
  return std::make_unique<MeanStep>(op, kernels);
}

}  // namespace larq_engine
