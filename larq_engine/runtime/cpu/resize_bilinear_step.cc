// RESIZE_BILINEAR of the host, on floats and on int8.
#include "larq_engine/kernels/layers/bilinear_lines.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// The step's pixels are lines of the output.
template <typename T>
class ResizeBilinearStep : public Step {
 public:
  explicit ResizeBilinearStep(const ResizeBilinearOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& in = inputs[0].dims;
    const AxisScale scale = {.aligns_corners = op_.aligns_corners,
                             .has_pixel_centers = op_.has_pixel_centers};
    ys_ = Between(in[1], op_.height, scale);
    xs_ = Between(in[2], op_.width, scale);
    channels_ = in[3];
    in_lines_ = in[1];
    in_line_ = in[2] * channels_;
    lines_ = CountElements(output.dims, 4) == 0 ? 0 : CountElements(output.dims, 2);
  }

  int64_t pixels() const override { return lines_; }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const T*>(inputs[0]);
    auto* out = static_cast<T*>(output);
    for (int64_t line = range.first_pixel; line < range.last_pixel; ++line) {
      const BetweenPixels& y = ys_[static_cast<size_t>(line % op_.height)];
      const T* image = in + line / op_.height * in_lines_ * in_line_;
      BilinearLine(image + y.low * in_line_, image + y.high * in_line_, y.share, xs_, channels_,
                   out);
      out += op_.width * channels_;
    }
  }

 private:
  const ResizeBilinearOp& op_;
  std::vector<BetweenPixels> ys_;
  std::vector<BetweenPixels> xs_;
  int64_t channels_ = 0;
  int64_t in_lines_ = 0;  // of an image
  int64_t in_line_ = 0;   // values of a line
  int64_t lines_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const ResizeBilinearOp& op, const StepKernels&) {
  if (op.is_float) return std::make_unique<ResizeBilinearStep<float>>(op);
  return std::make_unique<ResizeBilinearStep<int8_t>>(op);
}

}  // namespace larq_engine
