// LceBconv2d: chooses its kernel row, and runs it or the reference. The step may also compute a
// residual sum.
#include <algorithm>
#include <optional>
#include <string_view>

#include "larq_engine/kernels/common/activation.h"
#include "larq_engine/kernels/layers/bconv2d.h"
#include "larq_engine/kernels/layers/reference.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

class Bconv2dStep : public Step {
 public:
  Bconv2dStep(const Bconv2dOp& op, const ResidualOps& residual, const StepKernels& kernels)
      : op_(op), residual_(residual), kernels_(kernels) {
    if (!has_gates()) return;
    ones_.assign(static_cast<size_t>(op.spec.out_channels), 1.0f);
    slopes_ =
        residual.prelu != nullptr ? ForEachChannel(residual.prelu->slopes, ones_.size()) : ones_;
  }

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountElements(output.dims, 3);
    image_pixels_ = static_cast<int64_t>(output.dims[1]) * output.dims[2];
    if (residual_.is_gated) {
      gate_step_ = CountPixels(inputs[1].dims) == 1 ? 0 : op_.spec.out_channels;
    }
    in_height_ = inputs[0].dims[1];
    in_width_ = inputs[0].dims[2];
    if (kernels_.kernel != kReferenceKernel) ResizeKernel();
  }

  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override { return conv_ ? conv_->channel_blocks() : 1; }
  KernelPixels kernel_pixels() const override {
    return conv_ ? conv_->kernel_pixels() : KernelPixels{.tile = 1};
  }
  size_t scratch_bytes() const override { return conv_ ? conv_->scratch_bytes() : 0; }
  std::string kernel() const override {
    return conv_ ? conv_->kernel() : std::string(kReferenceKernel);
  }

  bool reads_whole(size_t input) const override {
    return input == 0 || (input == 1 && residual_.is_gated);
  }
  // The reference computes all products before it adds.
  bool in_place() const override { return conv_.has_value(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    if (residual_.sum == nullptr) return RunPixels(inputs[0], range, scratch, output, {});
    ResidualSum sum = {.addend = static_cast<const float*>(inputs.back()),
                       .range = ActivationRange(residual_.sum->activation)};
    auto* out = static_cast<float*>(output);
    if (has_gates()) {
      sum.gate = ones_.data();
      sum.slopes = slopes_.data();
    }
    if (!residual_.is_gated) return RunPixels(inputs[0], range, scratch, out, sum);
    const auto* gates = static_cast<const float*>(inputs[1]);
    for (StepRange part = range; part.first_pixel < range.last_pixel;) {
      const int64_t image = part.first_pixel / image_pixels_;
      part.last_pixel = std::min((image + 1) * image_pixels_, range.last_pixel);
      sum.gate = gates + image * gate_step_;
      RunPixels(inputs[0], part, scratch, out, sum);
      const int64_t values = (part.last_pixel - part.first_pixel) * op_.spec.out_channels;
      out += values;
      sum.addend += values;
      part.first_pixel = part.last_pixel;
    }
  }

 private:
  bool has_gates() const { return residual_.is_gated || residual_.prelu != nullptr; }

  void RunPixels(const void* input, const StepRange& range, std::byte* scratch, void* output,
                 const ResidualSum& sum) const {
    const auto* image = static_cast<const uint32_t*>(input);
    if (conv_) {
      conv_->Run(image, range.first_pixel, range.last_pixel, range.first_block, range.last_block,
                 scratch, static_cast<std::byte*>(output), sum);
      return;
    }
    ReferenceBconv2d(op_.spec, op_.transform, in_height_, in_width_, image, op_.filter.data(),
                     range.first_pixel, range.last_pixel, output);
    if (sum.addend == nullptr) return;
    auto* values = static_cast<float*>(output);
    const auto pixels = static_cast<size_t>(range.last_pixel - range.first_pixel);
    const auto channels = static_cast<size_t>(op_.spec.out_channels);
    const PixelOps& ops = kernels_.pixel_ops;
    if (sum.gate != nullptr) {
      ops.multiply_channels(values, sum.gate, pixels, channels, ActivationRange(Activation::kNone),
                            values);
      ops.prelu(values, sum.slopes, pixels, channels, values);
    }
    ops.add(values, sum.addend, pixels * channels, sum.range, values);
  }

  // Packs the filter the first time, and again if another row or another direction has become
  // better.
  void ResizeKernel() {
    const bool transposes = IsColumn(op_.spec, in_width_);
    if (transposes != is_transposed_) conv_.reset();
    is_transposed_ = transposes;
    spec_ = transposes ? Transposed(op_.spec) : op_.spec;
    const ProductChoice choice = Choose(DetectCpuFeatures());
    if (!choice.has_row()) throw OpError(choice.error);
    if (choice.planes != nullptr) {
      Use(*choice.planes);
    } else {
      Use(*choice.bytes);
    }
    if (transposes) {
      conv_->Resize(in_width_, in_height_);
    } else {
      conv_->Resize(in_height_, in_width_);
    }
  }

  ProductChoice Choose(CpuFeatures cpu) const {
    ProductChoice choice = SelectProduct(cpu, spec_, kernels_.kernel, pixels_ == 1);
    if (choice.bytes == nullptr || PermitIsa(choice.bytes->isa)) return choice;
    cpu.Remove(choice.bytes->isa);
    return Choose(cpu);
  }

  template <typename Row>
  void Use(const Row& row) {
    if (conv_ && row.name == std::string_view(conv_->kernel())) return;
    conv_.emplace(spec_, op_.filter.data(), op_.transform, row, kernels_.pixel_ops);
  }

  const Bconv2dOp& op_;
  Bconv2dSpec spec_;  // with conv_: the spec that it computes
  bool is_transposed_ = false;
  ResidualOps residual_;
  StepKernels kernels_;
  std::vector<float> ones_;      // with has_gates(): stands in for a missing gate
  std::vector<float> slopes_;    // with has_gates(): those of the PRELU, or 1
  std::optional<Bconv2d> conv_;  // none for the reference
  int64_t in_height_ = 0;
  int64_t in_width_ = 0;
  int64_t pixels_ = 0;
  int64_t image_pixels_ = 0;
  int64_t gate_step_ = 0;  // distance in values between the gates of two images
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const StepKernels& kernels) {
  return MakeStep(op, {}, kernels);
}

std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const ResidualOps& residual,
                               const StepKernels& kernels) {
  return std::make_unique<Bconv2dStep>(op, residual, kernels);
}

}  // namespace larq_engine
