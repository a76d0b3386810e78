// CONV_2D of the host on int8.
#include "larq_engine/kernels/layers/int8_conv2d.h"
#include "larq_engine/runtime/cpu/int8_row.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

class Int8Conv2dStep : public Step {
 public:
  Int8Conv2dStep(const Int8Conv2dOp& op, const StepKernels& kernels)
      : conv_(op.spec, op.filter.data(), op.output, PermittedInt8Row(op.spec, kernels.kernel),
              kernels.pixel_ops) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountElements(output.dims, 3);
    conv_.Resize(inputs[0].dims[1], inputs[0].dims[2]);
  }

  int64_t pixels() const override { return pixels_; }
  KernelPixels kernel_pixels() const override { return {.tile = conv_.tile_pixels()}; }
  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string kernel() const override { return conv_.kernel(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    conv_.Run(static_cast<const int8_t*>(inputs[0]), range.first_pixel, range.last_pixel, scratch,
              static_cast<int8_t*>(output));
  }

 private:
  Int8Conv2d conv_;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8Conv2dOp& op, const StepKernels& kernels) {
  return std::make_unique<Int8Conv2dStep>(op, kernels);
}

}  // namespace larq_engine
