// LceQuantize (values to bits) and LceDequantize (bits to values).
#include <algorithm>
#include <cmath>
#include <optional>

#include "larq_engine/kernels/bits.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

void CheckHasChannels(const std::vector<int>& dims) {
  if (dims.empty()) {
    throw OpError("input: expected at least 1 dimension, got a scalar; re-convert the model");
  }
}

class PackingStep : public Step {
 public:
  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

 protected:
  void SetPixels(const std::vector<int>& dims) {
    // Any number of pixels without channels is no work.
    const bool empty = CountElements(dims, dims.size()) == 0;
    pixels_ = empty ? 0 : CountElements(dims, dims.size() - 1);
  }

 private:
  int64_t pixels_ = 0;
};

class QuantizeStep : public PackingStep {
 public:
  QuantizeStep(const OpInfo& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), type_(op.inputs[0].type) {
    if (type_ == kTfLiteInt8) zero_point_ = ZeroPoint(op.inputs[0], "input");
  }

  bool can_absorb() const override { return true; }
  bool Absorb(std::span<const ChannelOp* const> chain) override {
    limits_ = FindQuantizeLimits(chain);
    return limits_.has_value();
  }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const TensorShape& input = inputs[0];
    CheckHasChannels(input.dims);
    SetPixels(input.dims);
    channels_ = static_cast<size_t>(input.dims.back());
    if (limits_.has_value() && limits_->limits.size() < channels_) {  // one for all
      limits_->limits.resize(channels_, limits_->limits[0]);
      limits_->signs.resize(channels_, limits_->signs[0]);
    }
    TensorShape output{.dims = input.dims, .channels = input.dims.back()};
    output.dims.back() = static_cast<int>(WordsFor(channels_));
    return output;
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const size_t rows = static_cast<size_t>(range.last_pixel - range.first_pixel);
    const void* in = inputs[0];
    auto* out = static_cast<uint32_t*>(output);
    switch (type_) {
      case kTfLiteFloat32:
        if (limits_.has_value()) {
          return ops_.bitpack_float_limits(static_cast<const float*>(in), limits_->limits.data(),
                                           limits_->signs.data(), rows, channels_, out);
        }
        return ops_.bitpack_float(static_cast<const float*>(in), rows, channels_, out);
      case kTfLiteInt8:
        return ops_.bitpack_int8(static_cast<const int8_t*>(in), rows, channels_, zero_point_, out);
      default:
        return ops_.bitpack_bool(static_cast<const uint8_t*>(in), rows, channels_, out);
    }
  }

 private:
  const PixelOps& ops_;
  TfLiteType type_;
  int32_t zero_point_ = 0;
  size_t channels_ = 0;
  std::optional<QuantizeLimits> limits_;  // of floats, with what was absorbed
};

class DequantizeStep : public PackingStep {
 public:
  DequantizeStep(const OpInfo& op, const StepKernels& kernels)
      : ops_(kernels.pixel_ops), type_(op.output.type) {
    // Bits do not say how many channels they hold; only the output that the file declares does.
    if (op.output.dims.empty() || op.output.dims.back() < 0) {
      throw OpError("output: expected a shape that ends in the number of channels, got " +
                    DimsString(op.output.dims) + "; re-convert the model");
    }
    channels_ = op.output.dims.back();
    if (type_ != kTfLiteInt8) return;
    const double zero_point = ZeroPoint(op.output, "output");
    const double one = std::round(1.0 / Scale(op.output, "output"));
    plus_ = static_cast<int8_t>(std::clamp(zero_point + one, -128.0, 127.0));
    minus_ = static_cast<int8_t>(std::clamp(zero_point - one, -128.0, 127.0));
  }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const TensorShape& input = inputs[0];
    const std::vector<int>& input_dims = input.dims;
    CheckHasChannels(input_dims);
    const size_t words = WordsFor(static_cast<size_t>(channels_));
    if (input_dims.back() != static_cast<int>(words)) {
      throw OpError("input: expected " + std::to_string(words) + " words for the output's " +
                    std::to_string(channels_) + " channels, got shape " + DimsString(input_dims) +
                    "; re-convert the model");
    }
    CheckBitChannels(input, channels_);
    std::vector<int> dims = input_dims;
    dims.back() = channels_;
    SetPixels(dims);
    return {.dims = dims};
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const size_t rows = static_cast<size_t>(range.last_pixel - range.first_pixel);
    const size_t channels = static_cast<size_t>(channels_);
    const auto* in = static_cast<const uint32_t*>(inputs[0]);
    switch (type_) {
      case kTfLiteFloat32:
        return ops_.unpack_float(in, rows, channels, static_cast<float*>(output));
      case kTfLiteInt8:
        return ops_.unpack_int8(in, rows, channels, plus_, minus_, static_cast<int8_t*>(output));
      default:
        return ops_.unpack_bool(in, rows, channels, static_cast<uint8_t*>(output));
    }
  }

 private:
  const PixelOps& ops_;
  TfLiteType type_;
  int channels_ = 0;
  int8_t plus_ = 1;
  int8_t minus_ = -1;
};

}  // namespace

std::unique_ptr<Step> MakeQuantizeStep(const OpInfo& op, const StepKernels& kernels) {
  CheckInputCount(op, 1);
  CheckNoOptions(op);
  CheckType(op.inputs[0], "input", {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool});
  CheckType(op.output, "output", {kTfLiteInt32});
  return std::make_unique<QuantizeStep>(op, kernels);
}

std::unique_ptr<Step> MakeDequantizeStep(const OpInfo& op, const StepKernels& kernels) {
  CheckInputCount(op, 1);
  CheckNoOptions(op);
  CheckType(op.inputs[0], "input", {kTfLiteInt32});
  CheckType(op.output, "output", {kTfLiteFloat32, kTfLiteInt8, kTfLiteBool});
  return std::make_unique<DequantizeStep>(op, kernels);
}

}  // namespace larq_engine
