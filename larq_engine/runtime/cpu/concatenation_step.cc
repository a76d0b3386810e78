// CONCATENATION of the host, along channels.
#include <cstring>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class ConcatenationStep : public Step {
 public:
  explicit ConcatenationStep(const ConcatenationOp& op) : op_(op) {}

  // The output may have more channels, which other steps copy: see step_list.h.
  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    input_bytes_.clear();
    output_bytes_ = static_cast<size_t>(output.dims.back()) * op_.element_bytes;
    for (const TensorShape& input : inputs) {
      input_bytes_.push_back(static_cast<size_t>(input.dims.back()) * op_.element_bytes);
    }
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    auto* pixel_out = static_cast<std::byte*>(output);
    const size_t pixels = static_cast<size_t>(range.last_pixel - range.first_pixel);
    for (size_t pixel = 0; pixel < pixels; ++pixel, pixel_out += output_bytes_) {
      std::byte* out = pixel_out;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const auto* in = static_cast<const std::byte*>(inputs[i]) + pixel * input_bytes_[i];
        std::memcpy(out, in, input_bytes_[i]);
        out += input_bytes_[i];
      }
    }
  }

 private:
  const ConcatenationOp& op_;
  std::vector<size_t> input_bytes_;  // size of a pixel
  size_t output_bytes_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ConcatenationOp& op, const StepKernels&) {
  return std::make_unique<ConcatenationStep>(op);
}

}  // namespace larq_engine
