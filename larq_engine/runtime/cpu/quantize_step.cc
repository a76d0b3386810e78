// LceQuantize (values to bits) and LceDequantize (bits to values).
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "larq_engine/kernels/common/bits.h"
#include "larq_engine/kernels/pixels/quantize_planes.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

class QuantizeStep : public Step {
 public:
  QuantizeStep(const QuantizeOp& op, const StepKernels& kernels)
      : op_(op), ops_(kernels.pixel_ops) {}

  // The output may have more channels, which other steps make: see step_list.h.
  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(inputs[0].dims);
    channels_ = static_cast<size_t>(inputs[0].dims.back());
    output_words_ = static_cast<size_t>(output.dims.back());
    limits_ = op_.limits;
    if (limits_.has_value()) {
      limits_->limits = ForEachChannel(limits_->limits, channels_);
      limits_->signs = ForEachChannel(limits_->signs, channels_);
    }
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const size_t pixels = static_cast<size_t>(range.last_pixel - range.first_pixel);
    const void* in = inputs[0];
    auto* out = static_cast<uint32_t*>(output);
    switch (op_.from) {
      case ElementType::kFloat32:
        if (limits_.has_value()) {
          return ops_.bitpack_float_limits(static_cast<const float*>(in), limits_->limits.data(),
                                           limits_->signs.data(), pixels, channels_, out,
                                           output_words_);
        }
        return PackSigns(static_cast<const float*>(in), pixels, out);
      case ElementType::kInt8:
        return ops_.bitpack_int8(static_cast<const int8_t*>(in), pixels, channels_, op_.zero_point,
                                 out);
      default:
        return ops_.bitpack_bool(static_cast<const uint8_t*>(in), pixels, channels_, out);
    }
  }

 private:
  // The sign is not a comparison with a limit of 0, because that compares floats, which a thread
  // may flush to zero.
  void PackSigns(const float* in, size_t pixels, uint32_t* out) const {
    if (output_words_ == WordsFor(channels_)) return ops_.bitpack_float(in, pixels, channels_, out);
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
      ops_.bitpack_float(in + pixel * channels_, 1, channels_, out + pixel * output_words_);
    }
  }

  const QuantizeOp& op_;
  const PixelOps& ops_;
  size_t channels_ = 0;
  size_t output_words_ = 0;  // words of a pixel
  int64_t pixels_ = 0;
  std::optional<QuantizeLimits> limits_;  // one for each channel
};

// Quantizes numbers to several bits each.
template <typename Value, typename Quantizer>
class QuantizeNumbersStep : public Step {
 public:
  explicit QuantizeNumbersStep(std::function<Quantizer(size_t channels)> make)
      : make_(std::move(make)) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape&) override {
    pixels_ = CountPixels(inputs[0].dims);
    quantizer_.emplace(make_(static_cast<size_t>(inputs[0].dims.back())));
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }
  size_t scratch_bytes() const override { return quantizer_->scratch_bytes(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    quantizer_->Run(static_cast<const Value*>(inputs[0]),
                    static_cast<size_t>(range.last_pixel - range.first_pixel), scratch,
                    static_cast<uint32_t*>(output));
  }

 private:
  std::function<Quantizer(size_t channels)> make_;
  int64_t pixels_ = 0;
  std::optional<Quantizer> quantizer_;
};

class DequantizeStep : public Step {
 public:
  DequantizeStep(const DequantizeOp& op, const StepKernels& kernels)
      : op_(op), ops_(kernels.pixel_ops) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const size_t pixels = static_cast<size_t>(range.last_pixel - range.first_pixel);
    const size_t channels = static_cast<size_t>(op_.channels);
    const auto* in = static_cast<const uint32_t*>(inputs[0]);
    switch (op_.to) {
      case ElementType::kFloat32:
        return ops_.unpack_float(in, pixels, channels, static_cast<float*>(output));
      case ElementType::kInt8:
        return ops_.unpack_int8(in, pixels, channels, op_.plus, op_.minus,
                                static_cast<int8_t*>(output));
      default:
        return ops_.unpack_bool(in, pixels, channels, static_cast<uint8_t*>(output));
    }
  }

 private:
  const DequantizeOp& op_;
  const PixelOps& ops_;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const QuantizeOp& op, const StepKernels& kernels) {
  const PixelOps& ops = kernels.pixel_ops;
  if (op.from == ElementType::kUint8) {
    return std::make_unique<QuantizeNumbersStep<uint8_t, ByteQuantizer>>(
        [&ops](size_t channels) { return ByteQuantizer(channels, ops); });
  }
  if (op.bits > 1) {
    return std::make_unique<QuantizeNumbersStep<float, PlaneQuantizer>>(
        [&op, &ops](size_t channels) {
          return PlaneQuantizer(static_cast<size_t>(op.bits), channels, op.plane_limits, ops);
        });
  }
  return std::make_unique<QuantizeStep>(op, kernels);
}

std::unique_ptr<Step> MakeStep(const DequantizeOp& op, const StepKernels& kernels) {
  return std::make_unique<DequantizeStep>(op, kernels);
}

}  // namespace larq_engine
