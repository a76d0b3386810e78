// CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of the host on int8.
#include <vector>

#include "larq_engine/kernels/layers/depthwise_int8_conv2d.h"
#include "larq_engine/kernels/layers/int8_conv2d.h"
#include "larq_engine/kernels/layers/plain_int8_conv2d.h"
#include "larq_engine/runtime/cpu/int8_row.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

// `Conv` is Int8Conv2d, DepthwiseInt8Conv2d or PlainInt8Conv2d. A layer `of_rows` sees them as a
// line of pixels.
template <typename Conv>
class Int8Conv2dStep : public Step {
 public:
  Int8Conv2dStep(Conv conv, bool of_rows) : conv_(std::move(conv)), of_rows_(of_rows) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    if (of_rows_) {
      conv_.Resize(1, pixels_);
    } else {
      conv_.Resize(inputs[0].dims[1], inputs[0].dims[2]);
    }
  }

  int64_t pixels() const override { return pixels_; }
  KernelPixels kernel_pixels() const override {
    if constexpr (kHasRows) return {.tile = conv_.tile_pixels()};
    return Step::kernel_pixels();
  }
  size_t scratch_bytes() const override { return conv_.scratch_bytes(); }
  std::string kernel() const override {
    if constexpr (kHasRows) return conv_.kernel();
    return "";
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    conv_.Run(static_cast<const int8_t*>(inputs[0]), range.first_pixel, range.last_pixel, scratch,
              static_cast<int8_t*>(output));
  }

 private:
  static constexpr bool kHasRows = std::is_same_v<Conv, Int8Conv2d>;

  Conv conv_;
  bool of_rows_;
  int64_t pixels_ = 0;
};

std::unique_ptr<Step> MakeConv(const Int8Conv2dOp& op, const StepKernels& kernels, bool of_rows) {
  if (!op.is_plain) {
    return std::make_unique<Int8Conv2dStep<Int8Conv2d>>(
        Int8Conv2d(op.spec, op.filter.data(), op.output, PermittedInt8Row(op.spec, kernels.kernel),
                   kernels.pixel_ops),
        of_rows);
  }
  const auto weights = static_cast<size_t>(op.spec.out_channels * op.spec.depth());
  std::vector<int8_t> filter = op.form == Int8Conv2dOp::kDepthwise
                                   ? std::vector(op.filter.data(), op.filter.data() + weights)
                                   : TapsFirst(op.spec, op.filter.data());
  if (DepthwiseInt8Conv2d::Takes(op.spec)) {
    return std::make_unique<Int8Conv2dStep<DepthwiseInt8Conv2d>>(
        DepthwiseInt8Conv2d(op.spec, std::move(filter), op.output, kernels.pixel_ops), of_rows);
  }
  return std::make_unique<Int8Conv2dStep<PlainInt8Conv2d>>(
      PlainInt8Conv2d(op.spec, std::move(filter), op.output, kernels.pixel_ops), of_rows);
}

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8Conv2dOp& op, const StepKernels& kernels) {
  return MakeConv(op, kernels, false);
}

std::unique_ptr<Step> MakeStep(const Int8DenseOp& op, const StepKernels& kernels) {
  return MakeConv(op.conv, kernels, true);
}

}  // namespace larq_engine
