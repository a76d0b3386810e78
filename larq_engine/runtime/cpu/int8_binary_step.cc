// ADD, SUB and MUL of the host on int8. A plain loop computes them.
#include <algorithm>
#include <array>

#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

class Int8BinaryStep : public Step {
 public:
  explicit Int8BinaryStep(const Int8BinaryOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    channels_ = static_cast<size_t>(Channels(output.dims));
    const auto dims = op_.OperandDims(inputs);
    for (size_t i : {0, 1}) operand_pixels_[i] = BroadcastPixels(dims[i], output.dims);
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    std::array<const int8_t*, 2> operands = {op_.constant.data(), op_.constant.data()};
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[op_.data_inputs[i]] = static_cast<const int8_t*>(inputs[i]);
    }
    auto* out = static_cast<int8_t*>(output);
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel, out += channels_) {
      Compute(operands[0] + operand_pixels_[0].Begin(pixel),
              operands[1] + operand_pixels_[1].Begin(pixel), out);
    }
  }

 private:
  void Compute(const int8_t* a, const int8_t* b, int8_t* out) const {
    const int32_t zero_a = op_.zero_points[0], zero_b = op_.zero_points[1];
    if (op_.kind == Int8BinaryOp::kMultiply) {
      ForEachPair(a, b, out, [&](int32_t value_a, int32_t value_b) {
        const auto product = static_cast<float>((value_a - zero_a) * (value_b - zero_b));
        return RoundToInt8(product * op_.multiplier, op_.range, op_.zero_point);
      });
      return;
    }
    const int32_t of_a = op_.parts.of_step[0], of_b = op_.parts.of_step[1];
    const int shift = op_.parts.shift;
    const auto lowest = static_cast<int32_t>(op_.range.min);
    const auto highest = static_cast<int32_t>(op_.range.max);
    const int32_t half = int32_t{1} << (shift - 1);
    ForEachPair(a, b, out, [&](int32_t value_a, int32_t value_b) {
      const int32_t sum = half + (value_a - zero_a) * of_a + (value_b - zero_b) * of_b;
      return static_cast<int8_t>(std::clamp(sum >> shift, lowest, highest) + op_.zero_point);
    });
  }

  // An operand has a value for each channel, or one for all.
  template <typename Function>
  void ForEachPair(const int8_t* a, const int8_t* b, int8_t* out, const Function& function) const {
    const size_t step_a = operand_pixels_[0].size() == channels_ ? 1 : 0;
    const size_t step_b = operand_pixels_[1].size() == channels_ ? 1 : 0;
    for (size_t c = 0; c < channels_; ++c) out[c] = function(a[c * step_a], b[c * step_b]);
  }

  const Int8BinaryOp& op_;
  std::array<BroadcastPixels, 2> operand_pixels_;
  int64_t pixels_ = 0;
  size_t channels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8BinaryOp& op, const StepKernels&) {
  return std::make_unique<Int8BinaryStep>(op);
}

}  // namespace larq_engine
