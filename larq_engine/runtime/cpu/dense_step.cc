// FULLY_CONNECTED of the host.
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/float_conv2d.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

// Computes a layer with few weights, such as a gate's. With AVX2 a row of 512 values to 64
// takes 1.2 us here and 2.2 us as a convolution, but 8 rows take 9.3 us and 5.7 us (Zen 4).
class SmallDenseStep : public Step {
 public:
  SmallDenseStep(const DenseOp& op, const StepKernels& kernels)
      : op_(op),
        ops_(kernels.pixel_ops),
        depth_(static_cast<size_t>(op.depth)),
        units_(static_cast<size_t>(op.units)),
        weights_(depth_ * units_) {
    for (size_t unit = 0; unit < units_; ++unit) {
      for (size_t d = 0; d < depth_; ++d) {
        weights_[d * units_ + unit] = op.weights.data()[unit * depth_ + d];
      }
    }
  }

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    rows_ = CountPixels(output.dims);
  }
  int64_t pixels() const override { return rows_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const float*>(inputs[0]);
    auto* out = static_cast<float*>(output);
    for (int64_t row = range.first_pixel; row < range.last_pixel; ++row, out += units_) {
      ops_.dense(in + static_cast<size_t>(row) * depth_, weights_.data(), depth_, units_, out);
      ops_.add(out, op_.bias.data(), units_, ActivationRange(op_.activation), out);
    }
  }

 private:
  const DenseOp& op_;
  const PixelOps& ops_;
  size_t depth_;
  size_t units_;
  std::vector<float> weights_;  // [depth][units]
  int64_t rows_ = 0;
};

// Computes any layer, as a 1x1 convolution whose pixels are the rows.
class DenseStep : public Step {
 public:
  DenseStep(const DenseOp& op, const StepKernels& kernels)
      : depth_(op.depth),
        conv_({.in_channels = op.depth, .out_channels = op.units}, op.weights.data(),
              op.bias.data(), ActivationRange(op.activation),
              SelectFloats(AllowedFeatures(DetectCpuFeatures(), kernels.kernel))) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    rows_ = CountPixels(output.dims);
  }
  int64_t pixels() const override { return rows_; }
  int64_t blocks() const override { return conv_.channel_blocks(); }
  KernelPixels kernel_pixels() const override { return {.tile = conv_.tile_pixels()}; }
  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string kernel() const override { return conv_.kernel(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* in = static_cast<const float*>(inputs[0]) + range.first_pixel * depth_;
    conv_.Run(in, range.first_pixel, range.last_pixel, range.first_block, range.last_block, scratch,
              static_cast<float*>(output));
  }

 private:
  int64_t depth_;
  FloatConv2d conv_;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const DenseOp& op, const StepKernels& kernels) {
  if (op.HasFewWeights()) return std::make_unique<SmallDenseStep>(op, kernels);
  return std::make_unique<DenseStep>(op, kernels);
}

}  // namespace larq_engine
