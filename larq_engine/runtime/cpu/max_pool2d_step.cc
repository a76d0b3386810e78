// LceBMaxPool2d, of packed images, and MAX_POOL_2D of the host, of float images.
#include "larq_engine/kernels/max_pool.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

template <typename T>
class MaxPool2dStep : public Step {
 public:
  using Max = void (*)(const T* const* taps, size_t tap_count, size_t count, T* out);
  MaxPool2dStep(const Window2d& window, Max max) : window_(window), max_(max) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    height_ = window_.Height(dims[1]);
    width_ = window_.Width(dims[2]);
    values_ = static_cast<size_t>(dims[3]);
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    MaxPool2d(static_cast<const T*>(inputs[0]), height_, width_, values_, range.first_pixel,
              range.last_pixel, max_, static_cast<T*>(output));
  }

 private:
  const Window2d& window_;
  Max max_;
  WindowAxis height_;
  WindowAxis width_;
  int64_t pixels_ = 0;
  size_t values_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, const StepKernels& kernels) {
  if (!op.of_bits) {
    return std::make_unique<MaxPool2dStep<float>>(op.window, kernels.pixel_ops.max_float);
  }
  return std::make_unique<MaxPool2dStep<uint32_t>>(op.window, kernels.pixel_ops.max_bits);
}

}  // namespace larq_engine
