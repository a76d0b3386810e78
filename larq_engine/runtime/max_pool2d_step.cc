// LceBMaxPool2d, of packed images, and MAX_POOL_2D of the host, of float images.
#include <limits>

#include "larq_engine/kernels/max_pool.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

constexpr std::string_view kKeys[] = {"filter_height", "filter_width", "padding", "stride_height",
                                      "stride_width"};
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

struct Window {
  int64_t filter_height;
  int64_t filter_width;
  int64_t stride_height;
  int64_t stride_width;
  bool same;
};

template <typename T>
class MaxPool2dStep : public Step {
 public:
  using Max = void (*)(const T* const* taps, size_t tap_count, size_t count, T* out);
  MaxPool2dStep(const Window& window, Max max) : window_(window), max_(max) {}

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    const std::vector<int>& dims = inputs[0].dims;
    CheckRank(dims, "input", 4);
    CountElements(dims, 4);
    rows_ = MakeWindowAxis(dims[1], window_.filter_height, window_.stride_height, 1,
                           {.same = window_.same});
    cols_ = MakeWindowAxis(dims[2], window_.filter_width, window_.stride_width, 1,
                           {.same = window_.same});
    if (!window_.same && (rows_.out == 0 || cols_.out == 0)) {
      throw OpError("input: expected an image of at least " +
                    std::to_string(window_.filter_height) + " x " +
                    std::to_string(window_.filter_width) + " for this VALID window, got shape " +
                    DimsString(dims) + "; feed larger images");
    }
    values_ = static_cast<size_t>(dims[3]);
    const std::vector<int> output = {dims[0], static_cast<int>(rows_.out),
                                     static_cast<int>(cols_.out), dims[3]};
    pixels_ = dims[3] == 0 ? 0 : CountElements(output, 3);
    return {.dims = output, .channels = inputs[0].channels};
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    MaxPool2d(static_cast<const T*>(inputs[0]), rows_, cols_, values_, range.first_pixel,
              range.last_pixel, max_, static_cast<T*>(output));
  }

 private:
  Window window_;
  Max max_;
  WindowAxis rows_;
  WindowAxis cols_;
  int64_t pixels_ = 0;
  size_t values_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeBMaxPool2dStep(const OpInfo& op, const StepKernels& kernels) {
  CheckInputCount(op, 1);
  CheckType(op.inputs[0], "input", {kTfLiteInt32});
  CheckType(op.output, "output", {kTfLiteInt32});
  const Options options(op.options, kKeys);
  return std::make_unique<MaxPool2dStep<uint32_t>>(
      Window{.filter_height = options.Get("filter_height", 1, kMaxInt),
             .filter_width = options.Get("filter_width", 1, kMaxInt),
             .stride_height = options.Get("stride_height", 1, kMaxInt),
             .stride_width = options.Get("stride_width", 1, kMaxInt),
             .same = options.IsSame()},
      kernels.pixel_ops.max_bits);
}

std::unique_ptr<Step> MakeMaxPool2dStep(const OpInfo& op, const StepKernels& kernels) {
  const TfLitePoolParams& pool = op.host_options.pool;
  return std::make_unique<MaxPool2dStep<float>>(Window{.filter_height = pool.filter_height,
                                                       .filter_width = pool.filter_width,
                                                       .stride_height = pool.stride_height,
                                                       .stride_width = pool.stride_width,
                                                       .same = pool.padding == kTfLitePaddingSame},
                                                kernels.pixel_ops.max_float);
}

}  // namespace larq_engine
