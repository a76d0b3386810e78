// LceBconv2d: chooses its kernel row, runs it or the reference. If it has two inputs, the second is
// added to what it computes.
#include <optional>
#include <string_view>

#include "larq_engine/kernels/activation.h"
#include "larq_engine/kernels/bconv2d.h"
#include "larq_engine/kernels/reference.h"
#include "larq_engine/kernels/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

class Bconv2dStep : public Step {
 public:
  Bconv2dStep(const Bconv2dOp& op, const StepKernels& kernels) : op_(op), kernels_(kernels) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountElements(output.dims, 3);
    in_height_ = inputs[0].dims[1];
    in_width_ = inputs[0].dims[2];
    if (kernels_.kernel != kReferenceKernel) ResizeKernel();
  }

  int64_t pixels() const override { return pixels_; }
  int64_t channel_blocks() const override { return conv_ ? conv_->channel_blocks() : 1; }
  KernelPixels kernel_pixels() const override {
    return conv_ ? conv_->kernel_pixels() : KernelPixels{.tile = 1};
  }
  size_t scratch_bytes() const override { return conv_ ? conv_->scratch_bytes() : 0; }
  std::string kernel() const override {
    return conv_ ? conv_->kernel() : std::string(kReferenceKernel);
  }

  bool reads_whole(size_t input) const override { return input == 0; }
  // The reference makes all products before it adds.
  bool in_place() const override { return conv_.has_value(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* image = static_cast<const uint32_t*>(inputs[0]);
    const auto* addend = inputs.size() > 1 ? static_cast<const float*>(inputs[1]) : nullptr;
    if (conv_) {
      conv_->Run(image, range.first_pixel, range.last_pixel, range.first_block, range.last_block,
                 scratch, static_cast<std::byte*>(output), addend);
      return;
    }
    ReferenceBconv2d(op_.spec, op_.transform, in_height_, in_width_, image, op_.filter.data(),
                     range.first_pixel, range.last_pixel, output);
    if (addend == nullptr) return;
    auto* sums = static_cast<float*>(output);
    const int64_t pixels = range.last_pixel - range.first_pixel;
    const size_t values = static_cast<size_t>(pixels * op_.spec.out_channels);
    kernels_.pixel_ops.add(sums, addend, values, ActivationRange(Activation::kNone), sums);
  }

 private:
  // Packs the filter the first time, and where another row is the better one for one pixel.
  void ResizeKernel() {
    const ProductChoice choice = Choose(DetectCpuFeatures());
    if (!choice.has_row()) throw OpError(choice.error);
    if (choice.planes != nullptr) {
      Use(*choice.planes);
    } else {
      Use(*choice.bytes);
    }
    conv_->Resize(in_height_, in_width_);
  }

  ProductChoice Choose(CpuFeatures cpu) const {
    const ProductChoice choice = SelectProduct(cpu, op_.spec, kernels_.kernel, pixels_ == 1);
    if (choice.bytes == nullptr || PermitIsa(choice.bytes->isa)) return choice;
    cpu.Remove(choice.bytes->isa);
    return Choose(cpu);
  }

  template <typename Row>
  void Use(const Row& row) {
    if (conv_ && row.name == std::string_view(conv_->kernel())) return;
    conv_.emplace(op_.spec, op_.filter.data(), op_.transform, row, kernels_.pixel_ops);
  }

  const Bconv2dOp& op_;
  StepKernels kernels_;
  std::optional<Bconv2d> conv_;  // none for the reference
  int64_t in_height_ = 0;
  int64_t in_width_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const StepKernels& kernels) {
  return std::make_unique<Bconv2dStep>(op, kernels);
}

}  // namespace larq_engine
