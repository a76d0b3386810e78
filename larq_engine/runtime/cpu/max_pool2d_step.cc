// LceBMaxPool2d, of packed images, and MAX_POOL_2D of the host, of float images. The latter may
// also compute the product with a constant that comes before it.
#include <utility>
#include <vector>

#include "larq_engine/kernels/pixels/pool.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

class MaxPool2dStep : public Step {
 public:
  MaxPool2dStep(const MaxPool2dOp& op, std::vector<float> factors, const StepKernels& kernels)
      : op_(op), given_(std::move(factors)), ops_(kernels.pixel_ops) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    window_ = op_.window.Over(dims[1], dims[2]);
    values_ = static_cast<size_t>(dims[3]);
    pixels_ = CountPixels(output.dims);
    factors_ = given_.empty() ? given_ : ForEachChannel(given_, values_);
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    if (op_.of_bits) return Pool<uint32_t>(inputs[0], range, ops_.max_bits, output);
    auto* floats = static_cast<float*>(output);
    if (factors_.empty()) {
      Pool<float>(inputs[0], range, ops_.max_float, output);
    } else {
      MaxPool2dOfProducts(static_cast<const float*>(inputs[0]), factors_.data(), window_, values_,
                          range.first_pixel, range.last_pixel, ops_.max_products, floats);
    }
    if (op_.activation == Activation::kNone) return;
    const size_t pixels = static_cast<size_t>(range.last_pixel - range.first_pixel);
    ops_.clamp(floats, pixels * values_, ActivationRange(op_.activation), floats);
  }

 private:
  template <typename T, typename Max>
  void Pool(const void* input, const StepRange& range, Max max, void* output) const {
    MaxPool2d(static_cast<const T*>(input), window_, values_, range.first_pixel, range.last_pixel,
              max, static_cast<T*>(output));
  }

  const MaxPool2dOp& op_;
  const std::vector<float> given_;  // factors, one for all channels or one for each
  const PixelOps& ops_;
  WindowAxes window_;
  int64_t pixels_ = 0;
  size_t values_ = 0;
  std::vector<float> factors_;  // one for each channel; empty without factors
};

}  // namespace

std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, const StepKernels& kernels) {
  return MakeStep(op, {}, kernels);
}

std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, std::vector<float> factors,
                               const StepKernels& kernels) {
  return std::make_unique<MaxPool2dStep>(op, std::move(factors), kernels);
}

}  // namespace larq_engine
