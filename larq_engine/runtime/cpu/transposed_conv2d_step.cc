// TRANSPOSE_CONV of the host, on floats and on int8.
#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/plain_int8_transposed_conv2d.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/layers/transposed_conv2d.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// The step's pixels are lines of the output. `Conv` is TransposedConv2d or
// PlainInt8TransposedConv2d, on values of type T.
template <typename Conv, typename T>
class TransposedConv2dStep : public Step {
 public:
  explicit TransposedConv2dStep(Conv conv) : conv_(std::move(conv)) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    lines_ = CountElements(output.dims, 2);
  }

  int64_t pixels() const override { return lines_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }
  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string kernel() const override {
    if constexpr (std::is_same_v<Conv, TransposedConv2d>) return conv_.kernel();
    return "";
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    conv_.Run(static_cast<const T*>(inputs[0]), range.first_pixel, range.last_pixel, scratch,
              static_cast<T*>(output));
  }

 private:
  Conv conv_;
  int64_t lines_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const TransposedConv2dOp& op, const StepKernels& kernels) {
  const FloatRow& row = SelectFloats(AllowedFeatures(DetectCpuFeatures(), kernels.kernel));
  return std::make_unique<TransposedConv2dStep<TransposedConv2d, float>>(TransposedConv2d(
      op.spec, op.filter.data(), op.bias.data(), ActivationRange(op.activation), row));
}

std::unique_ptr<Step> MakeStep(const Int8TransposedConv2dOp& op, const StepKernels& kernels) {
  return std::make_unique<TransposedConv2dStep<PlainInt8TransposedConv2d, int8_t>>(
      PlainInt8TransposedConv2d(op.spec, op.filter.data(), op.zero_point, op.output,
                                kernels.pixel_ops));
}

}  // namespace larq_engine
