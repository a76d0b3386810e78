// ADD, MUL, RELU and its kin, PRELU of the host: each value by itself.
#include <algorithm>
#include <array>

#include "larq_engine/runtime/broadcast.h"
#include "larq_engine/runtime/host_ops.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

size_t Channels(const std::vector<int>& dims) {
  return dims.empty() ? 1 : static_cast<size_t>(dims.back());
}

// Sized by its first data input.
class ElementwiseStep : public Step {
 public:
  TensorShape Resize(std::span<const TensorShape> inputs) override {
    SetShape(inputs[0].dims);
    return {.dims = inputs[0].dims};
  }
  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }
  bool in_place() const override { return pixelwise(); }

 protected:
  ElementwiseStep(const OpInfo& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), range_(ActivationRange(op.host_options.activation)) {}

  void SetShape(const std::vector<int>& dims) {
    channels_ = Channels(dims);
    // Any number of pixels without channels is no work.
    const int64_t values = CountElements(dims, dims.size());
    pixels_ = values == 0 ? 0 : values / static_cast<int64_t>(channels_);
  }
  static size_t Rows(const StepRange& range) {
    return static_cast<size_t>(range.last_pixel - range.first_pixel);
  }
  size_t Values(const StepRange& range) const { return Rows(range) * channels_; }
  size_t channels() const { return channels_; }

  const PixelOps& ops_;
  FloatRange range_;

 private:
  size_t channels_ = 0;
  int64_t pixels_ = 0;
};

// Two tensors, or a tensor and a constant that is one value or one for each channel.
class BinaryStep : public ElementwiseStep {
 public:
  BinaryStep(const OpInfo& op, const StepKernels& kernels, ChannelOp::Kind kind)
      : ElementwiseStep(op, kernels),
        of_tensors_(kind == ChannelOp::kAdd ? ops_.add : ops_.multiply),
        of_channels_(kind == ChannelOp::kAdd ? ops_.add_channels : ops_.multiply_channels),
        has_activation_(op.host_options.activation != kTfLiteActNone) {
    for (size_t input : {0, 1}) {
      if (op.inputs[input].constant == nullptr) {
        data_inputs_.push_back(input);
      } else {
        constant_ = {.kind = kind, .constants = ReadChannelConstant(op.inputs[input])};
        row_ = constant_.constants;
      }
    }
  }

  std::vector<size_t> data_inputs() const override { return data_inputs_; }
  bool pixelwise() const override { return form_ != kUnlike; }
  size_t scratch_bytes() const override {
    return form_ == kUnlike ? channels() * sizeof(float) : 0;
  }

  const ChannelOp* channel_op() const override {
    return data_inputs_.size() > 1 || has_activation_ ? nullptr : &constant_;
  }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const std::vector<int>& dims = inputs[0].dims;
    if (data_inputs_.size() > 1) {
      const std::vector<int>& other = inputs[1].dims;
      form_ = dims == other ? kAlike : kUnlike;
      return SetOperands({dims, other});
    }
    // A value for all channels is one for each of however many there are.
    if (constant_.constants.size() == 1) row_.assign(Channels(dims), constant_.constants[0]);
    form_ = row_.size() == Channels(dims) ? kChannels : kUnlike;
    const std::vector<int> constant_dims = {static_cast<int>(row_.size())};
    return data_inputs_[0] == 0 ? SetOperands({dims, constant_dims})
                                : SetOperands({constant_dims, dims});
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* a = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    if (form_ == kChannels) {
      of_channels_(a, row_.data(), Rows(range), channels(), range_, out);
    } else if (form_ == kAlike) {
      of_tensors_(a, static_cast<const float*>(inputs[1]), Values(range), range_, out);
    } else {
      RunUnlike(inputs, range, scratch, out);
    }
  }

 private:
  enum Form : uint8_t { kAlike, kChannels, kUnlike };

  TensorShape SetOperands(const std::array<std::vector<int>, 2>& operands) {
    const std::vector<int> shape = BroadcastShape(operands[0], operands[1]);
    SetShape(shape);
    for (size_t i = 0; i < 2; ++i) rows_[i] = BroadcastRows(operands[i], shape);
    return {.dims = shape};
  }

  void RunUnlike(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                 float* out) const {
    std::array<const float*, 2> operands = {row_.data(), row_.data()};
    for (size_t i = 0; i < inputs.size(); ++i) {
      operands[data_inputs_[i]] = static_cast<const float*>(inputs[i]);
    }
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
      std::array<const float*, 2> row;
      for (size_t i = 0; i < 2; ++i) {
        row[i] = operands[i] + rows_[i].Begin(pixel);
        if (rows_[i].size() == channels()) continue;
        auto* repeated = reinterpret_cast<float*>(scratch);  // only one of both is so
        row[i] = std::fill_n(repeated, channels(), *row[i]) - channels();
      }
      of_tensors_(row[0], row[1], channels(), range_, out);
      out += channels();
    }
  }

  decltype(PixelOps::add) of_tensors_;
  decltype(PixelOps::add_channels) of_channels_;
  bool has_activation_;
  std::vector<size_t> data_inputs_;
  ChannelOp constant_;      // as the file has it
  std::vector<float> row_;  // its value for each channel
  Form form_ = kAlike;
  std::array<BroadcastRows, 2> rows_;  // of the operands
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
      : ElementwiseStep(op, kernels), constant_(ReadChannelConstant(op.inputs[1])) {}

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const std::vector<int>& dims = inputs[0].dims;
    slopes_ = constant_;
    if (constant_.size() == 1) slopes_.assign(Channels(dims), constant_[0]);
    if (slopes_.size() != Channels(dims)) {
      throw OpError("input: expected " + std::to_string(slopes_.size()) +
                    " channels, one for each slope, got shape " + DimsString(dims) +
                    "; resize the input to what the model takes");
    }
    return ElementwiseStep::Resize(inputs);
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    ops_.prelu(static_cast<const float*>(inputs[0]), slopes_.data(), Rows(range), channels(),
               static_cast<float*>(output));
  }

 private:
  std::vector<float> constant_;  // as the file has it: one value, or one for each channel
  std::vector<float> slopes_;    // one for each channel
};

}  // namespace

std::unique_ptr<Step> MakeAddStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<BinaryStep>(op, kernels, ChannelOp::kAdd);
}

std::unique_ptr<Step> MakeMultiplyStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<BinaryStep>(op, kernels, ChannelOp::kMultiply);
}

std::unique_ptr<Step> MakeReluStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<ReluStep>(op, kernels);
}

std::unique_ptr<Step> MakePreluStep(const OpInfo& op, const StepKernels& kernels) {
  return std::make_unique<PreluStep>(op, kernels);
}

}  // namespace larq_engine
