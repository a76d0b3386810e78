// ADD, MUL, RELU and its kin, PRELU of the host: each value by itself.
#include "larq_engine/runtime/host_ops.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

// Of an input that can_fuse has found fit, but a claim may outlast the shapes it was made for.
std::vector<float> ReadConstant(const OpInfo& op, size_t input) {
  std::vector<float> values = ReadChannelConstant(op.inputs[input], op.output.dims.back());
  if (values.empty()) {
    throw OpError("input: expected a constant for each channel, got shape " +
                  DimsString(op.inputs[input].dims) + "; load the model with fuse=off");
  }
  return values;
}

// Sized by its first data input.
class ElementwiseStep : public Step {
 public:
  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const std::vector<int>& dims = inputs[0].dims;
    if (dims.empty() || dims.back() != channels_) {
      throw OpError("input: expected " + std::to_string(channels_) + " channels, got shape " +
                    DimsString(dims) +
                    "; resize the input to what the model takes, or load it with fuse=off");
    }
    pixels_ = CountElements(dims, dims.size() - 1);
    CountElements(dims, dims.size());
    return {.dims = dims};
  }
  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }
  bool in_place() const override { return true; }

 protected:
  ElementwiseStep(const OpInfo& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops),
        range_(ActivationRange(op.host_options.activation)),
        channels_(op.output.dims.back()) {}

  static size_t Rows(const StepRange& range) {
    return static_cast<size_t>(range.last_pixel - range.first_pixel);
  }
  size_t Values(const StepRange& range) const { return Rows(range) * channels(); }
  size_t channels() const { return static_cast<size_t>(channels_); }

  const PixelOps& ops_;
  FloatRange range_;

 private:
  int channels_;
  int64_t pixels_ = 0;
};

// Two tensors.
class BinaryStep : public ElementwiseStep {
 public:
  using Operation = decltype(PixelOps::add);
  BinaryStep(const OpInfo& op, const StepKernels& kernels, Operation operation)
      : ElementwiseStep(op, kernels), operation_(operation) {}

  std::vector<size_t> data_inputs() const override { return {0, 1}; }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    if (inputs[0].dims != inputs[1].dims) {
      throw OpError("inputs: expected one shape, got " + DimsString(inputs[0].dims) + " and " +
                    DimsString(inputs[1].dims) +
                    "; resize all inputs of the model alike, or load it with fuse=off");
    }
    return ElementwiseStep::Resize(inputs);
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    operation_(static_cast<const float*>(inputs[0]), static_cast<const float*>(inputs[1]),
               Values(range), range_, static_cast<float*>(output));
  }

 private:
  Operation operation_;
};

// A tensor and a constant for each channel.
class ChannelStep : public ElementwiseStep {
 public:
  ChannelStep(const OpInfo& op, const StepKernels& kernels, ChannelOp::Kind kind)
      : ElementwiseStep(op, kernels),
        operation_(kind == ChannelOp::kAdd ? ops_.add_channels : ops_.multiply_channels),
        has_activation_(op.host_options.activation != kTfLiteActNone),
        data_input_(op.inputs[0].constant == nullptr ? 0 : 1),
        op_{.kind = kind, .constants = ReadConstant(op, 1 - data_input_)} {}

  std::vector<size_t> data_inputs() const override { return {data_input_}; }

  const ChannelOp* channel_op() const override { return has_activation_ ? nullptr : &op_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    operation_(static_cast<const float*>(inputs[0]), op_.constants.data(), Rows(range), channels(),
               range_, static_cast<float*>(output));
  }

 private:
  decltype(PixelOps::add_channels) operation_;
  bool has_activation_;
  size_t data_input_;
  ChannelOp op_;
};

class ReluStep : public ElementwiseStep {
 public:
  ReluStep(const OpInfo& op, const StepKernels& kernels) : ElementwiseStep(op, kernels) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.clamp(static_cast<const float*>(inputs[0]), Values(range), range_,
               static_cast<float*>(output));
  }
};

class PreluStep : public ElementwiseStep {
 public:
  PreluStep(const OpInfo& op, const StepKernels& kernels)
      : ElementwiseStep(op, kernels), slopes_(ReadConstant(op, 1)) {}

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.prelu(static_cast<const float*>(inputs[0]), slopes_.data(), Rows(range), channels(),
               static_cast<float*>(output));
  }

 private:
  std::vector<float> slopes_;
};

std::unique_ptr<Step> MakeBinaryStep(const OpInfo& op, const StepKernels& kernels,
                                     BinaryStep::Operation of_tensors,
                                     ChannelOp::Kind of_channels) {
  if (op.inputs[0].constant == nullptr && op.inputs[1].constant == nullptr) {
    return std::make_unique<BinaryStep>(op, kernels, of_tensors);
  }
  return std::make_unique<ChannelStep>(op, kernels, of_channels);
}

}  // namespace

std::unique_ptr<Step> MakeAddStep(const OpInfo& op, const StepKernels& kernels) {
  return MakeBinaryStep(op, kernels, kernels.pixel_ops.add, ChannelOp::kAdd);
}

std::unique_ptr<Step> MakeMultiplyStep(const OpInfo& op, const StepKernels& kernels) {
  return MakeBinaryStep(op, kernels, kernels.pixel_ops.multiply, ChannelOp::kMultiply);
}

std::unique_ptr<Step> MakeReluStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<ReluStep>(op, kernels);
}

std::unique_ptr<Step> MakePreluStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<PreluStep>(op, kernels);
}

}  // namespace larq_engine
