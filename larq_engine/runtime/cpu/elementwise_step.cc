// ADD, MUL, RELU and other clamps, PRELU, and functions of one value of the host. Each value is
// computed on its own.
#include <algorithm>
#include <array>

#include "larq_engine/runtime/cpu/pixelwise_step.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

class ElementwiseStep : public PixelwiseStep {
 public:
  bool in_place() const override { return pixelwise(); }

 protected:
  ElementwiseStep(const StepKernels& kernels, Activation activation)
      : ops_(kernels.pixel_ops), range_(ActivationRange(activation)) {}

  const PixelOps& ops_;
  FloatRange range_;
};

class BinaryStep : public ElementwiseStep {
 public:
  BinaryStep(const BinaryOp& op, const StepKernels& kernels)
      : ElementwiseStep(kernels, op.activation),
        op_(op),
        compute_values_(op.kind == ChannelOp::kAdd ? ops_.add : ops_.multiply),
        compute_channels_(op.kind == ChannelOp::kAdd ? ops_.add_channels : ops_.multiply_channels),
        compute_line_(
            ops_.pair_loop(op.kind == ChannelOp::kAdd ? PairFunction::kAdd : PairFunction::kMul)) {}

  bool pixelwise() const override { return form_ != kBroadcast; }
  bool reads_whole(size_t input) const override {
    return form_ == kBroadcast || (form_ == kRepeated && input != full_);
  }
  size_t scratch_bytes() const override {
    return form_ == kBroadcast || form_ == kRepeated ? channels() * sizeof(float) : 0;
  }

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    ElementwiseStep::Resize(inputs, output);
    const bool is_constant = inputs.size() == 1;
    if (is_constant) {
      constant_ = ForEachChannel(op_.constant, static_cast<size_t>(Channels(inputs[0].dims)));
    }
    const std::vector<std::vector<int>> operands = op_.OperandDims(inputs);
    for (size_t i = 0; i < 2; ++i) operand_pixels_[i] = BroadcastPixels(operands[i], output.dims);
    const int64_t values = CountElements(output.dims, output.dims.size());
    form_ = is_constant ? kChannels : kSameShape;
    if (op_.IsAlike(inputs)) return;
    form_ = kBroadcast;
    for (size_t i : {0, 1}) {
      const bool is_of_pixels = is_constant || operands[1 - i] == output.dims;
      if (!is_of_pixels || !HasOneAPixel(operands[i], output.dims)) continue;
      form_ = kOneAPixel;
      one_ = i;
    }
    if (is_constant || form_ == kOneAPixel) return;
    for (size_t i : {0, 1}) {
      if (CountElements(inputs[i].dims, inputs[i].dims.size()) != values) continue;
      form_ = kRepeated;
      full_ = i;
    }
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* a = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    if (form_ == kChannels) {
      compute_channels_(a, constant_.data(), Pixels(range), channels(), range_, out);
    } else if (form_ == kSameShape) {
      compute_values_(a, static_cast<const float*>(inputs[1]), Values(range), range_, out);
    } else if (form_ == kOneAPixel) {
      RunOneAPixel(inputs, range, out);
    } else if (form_ == kRepeated) {
      RunRepeated(inputs, range, scratch, out);
    } else {
      RunBroadcast(inputs, range, scratch, out);
    }
  }

 private:
  // kSameShape: both operands have the output's shape. kChannels: one is a constant for each
  // channel. kOneAPixel: one has a single value for each pixel, and the other the output's shape or
  // a constant for each channel. kRepeated: one has the output's shape, and the other is repeated.
  // kBroadcast: any other shapes.
  enum Form : uint8_t { kSameShape, kChannels, kOneAPixel, kRepeated, kBroadcast };

  void RunOneAPixel(std::span<const void* const> inputs, const StepRange& range, float* out) const {
    std::array<const float*, 2> values = {constant_.data(), constant_.data()};
    for (size_t i = 0; i < inputs.size(); ++i) {
      values[op_.data_inputs[i]] = static_cast<const float*>(inputs[i]);
    }
    std::array<LineOperand, 2> operands;
    for (size_t pixel = 0; pixel < Pixels(range); ++pixel) {
      const size_t first = inputs.size() == 1 ? 0 : pixel * channels();
      operands[one_] = {.values = values[one_] + pixel, .is_one = true};
      operands[1 - one_] = {.values = values[1 - one_] + first, .is_one = false};
      compute_line_(operands[0], operands[1], channels(), out + pixel * channels());
    }
    if (op_.activation != Activation::kNone) ops_.clamp(out, Values(range), range_, out);
  }

  // Repeats a gate, which has one pixel for a whole image.
  void RunRepeated(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                   float* out) const {
    const auto* full = static_cast<const float*>(inputs[full_]);
    const BroadcastPixels& others = operand_pixels_[1 - full_];
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel;) {
      const int64_t pixels = std::min(others.Repeats(pixel), range.last_pixel - pixel);
      const float* other = static_cast<const float*>(inputs[1 - full_]) + others.Begin(pixel);
      if (others.size() != channels()) {
        auto* repeated = reinterpret_cast<float*>(scratch);
        other = std::fill_n(repeated, channels(), *other) - channels();
      }
      compute_channels_(full, other, static_cast<size_t>(pixels), channels(), range_, out);
      full += static_cast<size_t>(pixels) * channels();
      out += static_cast<size_t>(pixels) * channels();
      pixel += pixels;
    }
  }

  void RunBroadcast(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                    float* out) const {
    std::array<const float*, 2> operands = {constant_.data(), constant_.data()};
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[op_.data_inputs[i]] = static_cast<const float*>(inputs[i]);
    }
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
      std::array<const float*, 2> values;
      for (size_t i = 0; i < 2; ++i) {
        values[i] = operands[i] + operand_pixels_[i].Begin(pixel);
        if (operand_pixels_[i].size() == channels()) continue;
        auto* repeated = reinterpret_cast<float*>(scratch);  // only one of the two is repeated
        values[i] = std::fill_n(repeated, channels(), *values[i]) - channels();
      }
      compute_values_(values[0], values[1], channels(), range_, out);
      out += channels();
    }
  }

  const BinaryOp& op_;
  decltype(PixelOps::add) compute_values_;
  decltype(PixelOps::add_channels) compute_channels_;
  PairLoop compute_line_;
  std::vector<float> constant_;  // one value for each channel
  Form form_ = kSameShape;
  size_t one_ = 0;   // for kOneAPixel: the operand that has one value for each pixel
  size_t full_ = 0;  // for kRepeated: index of the input with the output's shape
  std::array<BroadcastPixels, 2> operand_pixels_;
};

class ClampStep : public ElementwiseStep {
 public:
  ClampStep(const ClampOp& op, const StepKernels& kernels)
      : ElementwiseStep(kernels, op.activation) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.clamp(static_cast<const float*>(inputs[0]), Values(range), range_,
               static_cast<float*>(output));
  }
};

class PreluStep : public ElementwiseStep {
 public:
  PreluStep(const PreluOp& op, const StepKernels& kernels)
      : ElementwiseStep(kernels, Activation::kNone), op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    ElementwiseStep::Resize(inputs, output);
    slopes_ = ForEachChannel(op_.slopes, channels());
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.prelu(static_cast<const float*>(inputs[0]), slopes_.data(), Pixels(range), channels(),
               static_cast<float*>(output));
  }

 private:
  const PreluOp& op_;
  std::vector<float> slopes_;  // one for each channel
};

class UnaryStep : public ElementwiseStep {
 public:
  UnaryStep(const UnaryOp& op, const StepKernels& kernels)
      : ElementwiseStep(kernels, Activation::kNone), function_(op.function) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const float*>(inputs[0]);
    switch (function_) {
      case UnaryOp::kLogistic:
        return ops_.logistic(in, Values(range), static_cast<float*>(output));
    }
  }

 private:
  UnaryOp::Function function_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const UnaryOp& op, const StepKernels& kernels) {
  return std::make_unique<UnaryStep>(op, kernels);
}

std::unique_ptr<Step> MakeStep(const BinaryOp& op, const StepKernels& kernels) {
  return std::make_unique<BinaryStep>(op, kernels);
}

std::unique_ptr<Step> MakeStep(const ClampOp& op, const StepKernels& kernels) {
  return std::make_unique<ClampStep>(op, kernels);
}

std::unique_ptr<Step> MakeStep(const PreluOp& op, const StepKernels& kernels) {
  return std::make_unique<PreluStep>(op, kernels);
}

}  // namespace larq_engine
