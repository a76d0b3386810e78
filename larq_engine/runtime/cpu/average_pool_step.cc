// AVERAGE_POOL_2D and MEAN of the host.
#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/kernels/pixels/pool.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class AveragePoolStep : public Step {
 public:
  AveragePoolStep(Activation activation, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), activation_(activation) {}

  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override { return image_ ? static_cast<int64_t>(image_->parts()) : 1; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    const size_t values = static_cast<size_t>(range.last_pixel - range.first_pixel) * values_;
    if (window_.height.taps == 0) {  // the mean of no values
      std::fill_n(out, values, std::numeric_limits<float>::quiet_NaN());
    } else if (image_) {
      for (int64_t image = range.first_pixel; image < range.last_pixel; ++image, out += values_) {
        AverageImage(in, static_cast<size_t>(image), range, out);
      }
    } else {
      AveragePool2d(in, window_, values_, range.first_pixel, range.last_pixel, ops_.average, out);
      Clamp(out, values);
    }
  }

 protected:
  void SetImage(const std::vector<int>& image, const Window2d& window, const TensorShape& output) {
    window_ = window.Over(image[1], image[2]);
    values_ = static_cast<size_t>(image[3]);
    pixels_ = CountPixels(output.dims);
    image_.reset();
    const auto image_pixels = static_cast<size_t>(window_.in_pixels());
    if (image_pixels <= ImageAverage::kPixelsOfPart || !CoversImage(window_)) return;
    image_.emplace(image_pixels, values_, ops_.average);
    const auto images = static_cast<size_t>(pixels_);
    sums_ = AlignedBuffer<float>(MemoryProduct(images, image_->parts() * values_));
    parts_done_ = std::vector<std::atomic<size_t>>(images);
  }

 private:
  // Sums some parts of an image. The thread that sums the last part also computes the average.
  void AverageImage(const float* in, size_t image, const StepRange& range, float* out) const {
    const auto first = static_cast<size_t>(range.first_block);
    const auto last = static_cast<size_t>(range.last_block);
    float* sums = sums_.data() + image * image_->parts() * values_;
    image_->SumParts(in + image * static_cast<size_t>(window_.in_pixels()) * values_, first, last,
                     sums);
    const size_t done = parts_done_[image].fetch_add(last - first, std::memory_order_acq_rel);
    if (done + last - first < image_->parts()) return;
    parts_done_[image].store(0, std::memory_order_relaxed);  // for the next run
    image_->Finish(sums, out);
    Clamp(out, values_);
  }

  void Clamp(float* out, size_t values) const {
    if (activation_ == Activation::kNone) return;
    ops_.clamp(out, values, ActivationRange(activation_), out);
  }

  const PixelOps& ops_;
  Activation activation_;
  WindowAxes window_;
  int64_t pixels_ = 0;
  size_t values_ = 0;

  // For averages of whole images.
  std::optional<ImageAverage> image_;
  mutable AlignedBuffer<float> sums_;  // for the parts of each image
  mutable std::vector<std::atomic<size_t>> parts_done_;
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
