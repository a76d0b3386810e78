// SOFTMAX of the host on int8. A plain loop computes it, in the order of the host's sums.
#include <algorithm>
#include <cmath>

#include "larq_engine/runtime/cpu/pixelwise_step.h"

namespace larq_engine {
namespace {

class Int8SoftmaxStep : public PixelwiseStep {
 public:
  explicit Int8SoftmaxStep(const Int8SoftmaxOp& op) : op_(op) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const int8_t*>(inputs[0]);
    auto* out = static_cast<int8_t*>(output);
    for (int64_t row = range.first_pixel; row < range.last_pixel; ++row, in += channels()) {
      out = RunRow(in, out);
    }
  }

 private:
  int8_t* RunRow(const int8_t* in, int8_t* out) const {
    const int8_t largest = *std::max_element(in, in + channels());
    const auto exponential = [&](int8_t value) {
      return op_.exponentials[static_cast<size_t>(largest - value)];
    };
    float sum = 0;
    for (size_t c = 0; c < channels(); ++c) sum += exponential(in[c]);
    constexpr float kStep = 0x1p-8f;
    const float factor = 1 / (sum * kStep);
    return std::transform(in, in + channels(), out, [&](int8_t value) {
      const auto steps = static_cast<int32_t>(std::floor(exponential(value) * factor + 0.5f));
      return static_cast<int8_t>(std::min(steps - 128, 127));
    });
  }

  const Int8SoftmaxOp& op_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8SoftmaxOp& op, const StepKernels&) {
  return std::make_unique<Int8SoftmaxStep>(op);
}

}  // namespace larq_engine
