// CONCATENATION along any axis, and PACK.
#include <cstring>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// A pixel is what lies behind one index of the axes before the one that is joined.
class JoinStep : public Step {
 public:
  explicit JoinStep(const JoinOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const size_t axis = op_.AxisOf(output.dims.size());
    pixels_ = CountElements(output.dims, axis);
    if (CountElements(output.dims, output.dims.size()) == 0) pixels_ = 0;
    input_bytes_.clear();
    for (const TensorShape& input : inputs) {
      const int64_t elements = CountElements(input.dims, input.dims.size());
      input_bytes_.push_back(
          pixels_ == 0 ? 0 : static_cast<size_t>(elements / pixels_) * op_.element_bytes);
    }
  }

  int64_t pixels() const override { return pixels_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    auto* out = static_cast<std::byte*>(output);
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (input_bytes_[i] == 0) continue;  // an empty input may have no memory
        const auto* in = static_cast<const std::byte*>(inputs[i]);
        std::memcpy(out, in + static_cast<size_t>(pixel) * input_bytes_[i], input_bytes_[i]);
        out += input_bytes_[i];
      }
    }
  }

 private:
  const JoinOp& op_;
  std::vector<size_t> input_bytes_;  // size of a pixel of each input
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const JoinOp& op, const StepKernels&) {
  return std::make_unique<JoinStep>(op);
}

}  // namespace larq_engine
