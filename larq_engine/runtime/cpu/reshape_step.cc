// RESHAPE of the host: a copy.
#include <cstring>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class ReshapeStep : public Step {
 public:
  explicit ReshapeStep(const ReshapeOp& op) : element_bytes_(op.element_bytes) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    pixel_bytes_ = static_cast<size_t>(Channels(output.dims)) * element_bytes_;
    keeps_pixels_ = Channels(inputs[0].dims) == Channels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return keeps_pixels_; }
  bool in_place() const override { return keeps_pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]);
    if (!keeps_pixels_) in += static_cast<size_t>(range.first_pixel) * pixel_bytes_;
    if (in == output) return;
    std::memcpy(output, in,
                static_cast<size_t>(range.last_pixel - range.first_pixel) * pixel_bytes_);
  }

 private:
  size_t element_bytes_;
  int64_t pixels_ = 0;
  size_t pixel_bytes_ = 0;
  bool keeps_pixels_ = false;  // input and output have the same pixels
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ReshapeOp& op, const StepKernels&) {
  return std::make_unique<ReshapeStep>(op);
}

}  // namespace larq_engine
