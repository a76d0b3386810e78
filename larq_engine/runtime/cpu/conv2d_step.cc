// CONV_2D and DEPTHWISE_CONV_2D of the host on floats.
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/float_conv2d.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

class Conv2dStep : public Step {
 public:
  Conv2dStep(const FloatConv2dSpec& spec, const float* filter, const float* bias,
             Activation activation, const StepKernels& kernels)
      : widens_(spec.out_channels > spec.in_channels),
        conv_(spec, filter, bias, ActivationRange(activation),
              SelectFloats(AllowedFeatures(DetectCpuFeatures(), kernels.kernel))) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountElements(output.dims, 3);
    conv_.Resize(inputs[0].dims[1], inputs[0].dims[2]);
  }

  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override { return conv_.channel_blocks(); }
  KernelPixels kernel_pixels() const override { return {.tile = conv_.tile_pixels()}; }
  bool pixelwise() const override { return conv_.is_pixelwise() && !widens_; }
  bool reads_whole(size_t) const override { return !conv_.is_pixelwise(); }
  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string kernel() const override { return conv_.kernel(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    conv_.Run(static_cast<const float*>(inputs[0]), range.first_pixel, range.last_pixel,
              range.first_block, range.last_block, scratch, static_cast<float*>(output));
  }

 private:
  // Tells whether pixels get more channels. Such a 1x1 convolution would gain little in the group
  // before it, as it reads less than it writes, and the next group would read what it wrote more
  // slowly: MobileNetV2 of floats took 13.2 ms on a Zen 3 in this way, and takes 11.5 ms.
  bool widens_;
  FloatConv2d conv_;
  int64_t pixels_ = 0;
};

// Makes a step whose groups have an input channel each, and several filters of it.
std::unique_ptr<Step> MakeMultiplierStep(const Conv2dOp& op, const StepKernels& kernels) {
  const auto filters = static_cast<size_t>(op.spec.out_channels);
  const auto taps = static_cast<size_t>(op.spec.depth());
  std::vector<float> filter;  // [filters][taps]
  for (size_t c = 0; c < filters; ++c) {
    for (size_t tap = 0; tap < taps; ++tap) {
      filter.push_back(op.filter.data()[tap * filters + c]);
    }
  }
  return std::make_unique<Conv2dStep>(op.spec.InGroups(), filter.data(), op.bias.data(),
                                      op.activation, kernels);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const Conv2dOp& op, const StepKernels& kernels) {
  if (op.spec.has_multiplier()) return MakeMultiplierStep(op, kernels);
  return std::make_unique<Conv2dStep>(op.spec, op.filter.data(), op.bias.data(), op.activation,
                                      kernels);
}

std::unique_ptr<Step> MakeStep(std::span<const Conv2dOp* const> groups,
                               const StepKernels& kernels) {
  FloatConv2dSpec spec = groups[0]->spec;
  const int64_t weights = spec.out_channels * spec.depth();
  const auto convs = static_cast<int64_t>(groups.size());
  spec.groups *= convs;
  spec.in_channels *= convs;
  spec.out_channels *= convs;
  std::vector<float> filter;
  std::vector<float> bias;
  for (const Conv2dOp* group : groups) {
    filter.insert(filter.end(), group->filter.data(), group->filter.data() + weights);
    bias.insert(bias.end(), group->bias.begin(), group->bias.end());
  }
  return std::make_unique<Conv2dStep>(spec, filter.data(), bias.data(), groups[0]->activation,
                                      kernels);
}

}  // namespace larq_engine
