// ADD, SUB and MUL of the host on int8.
#include <array>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

class Int8BinaryStep : public Step {
 public:
  Int8BinaryStep(const Int8BinaryOp& op, const PixelOps& ops)
      : op_(op),
        compute_(op.kind == Int8BinaryOp::kMultiply ? ops.multiply_int8 : ops.add_int8),
        pairs_{.zero_points = {op.zero_points[0], op.zero_points[1]},
               .of_step = {op.parts.of_step[0], op.parts.of_step[1]},
               .shift = op.parts.shift,
               .multiplier = op.multiplier,
               .range = op.range,
               .zero_point = op.zero_point} {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    channels_ = static_cast<size_t>(Channels(output.dims));
    const auto dims = op_.OperandDims(inputs);
    for (size_t i : {0, 1}) operand_pixels_[i] = BroadcastPixels(dims[i], output.dims);
    is_alike_ = dims[0] == output.dims && dims[1] == output.dims;
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    std::array<const int8_t*, 2> operands = {op_.constant.data(), op_.constant.data()};
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[op_.data_inputs[i]] = static_cast<const int8_t*>(inputs[i]);
    }
    auto* out = static_cast<int8_t*>(output);
    // Operands of the output's shape are one line.
    const int64_t pixels = is_alike_ ? range.last_pixel - range.first_pixel : 1;
    const size_t values = static_cast<size_t>(pixels) * channels_;
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; pixel += pixels) {
      const auto operand = [&](size_t i) {
        return LineOperand{.values = operands[i] + operand_pixels_[i].Begin(pixel),
                           .is_one = operand_pixels_[i].size() != channels_};
      };
      compute_(pairs_, operand(0), operand(1), values, out);
      out += values;
    }
  }

 private:
  const Int8BinaryOp& op_;
  decltype(PixelOps::add_int8) compute_;
  Int8Pairs pairs_;
  bool is_alike_ = false;  // both operands have the output's shape
  std::array<BroadcastPixels, 2> operand_pixels_;
  int64_t pixels_ = 0;
  size_t channels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8BinaryOp& op, const StepKernels& kernels) {
  return std::make_unique<Int8BinaryStep>(op, kernels.pixel_ops);
}

}  // namespace larq_engine
