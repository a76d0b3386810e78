// LceBMaxPool2d: max pooling of packed images.
#include <limits>

#include "larq_engine/kernels/bmaxpool.h"
#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

constexpr std::string_view kKeys[] = {"filter_height", "filter_width", "padding", "stride_height",
                                      "stride_width"};
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

class BMaxPool2dStep : public Step {
 public:
  explicit BMaxPool2dStep(const Options& options)
      : filter_height_(options.Get("filter_height", 1, kMaxInt)),
        filter_width_(options.Get("filter_width", 1, kMaxInt)),
        stride_height_(options.Get("stride_height", 1, kMaxInt)),
        stride_width_(options.Get("stride_width", 1, kMaxInt)),
        same_(options.IsSame()) {}

  TensorShape Resize(const TensorShape& input) override {
    const std::vector<int>& dims = input.dims;
    CheckRank(dims, "input", 4);
    CountElements(dims, 4);
    rows_ = MakeWindowAxis(dims[1], filter_height_, stride_height_, 1, same_);
    cols_ = MakeWindowAxis(dims[2], filter_width_, stride_width_, 1, same_);
    if (!same_ && (rows_.out == 0 || cols_.out == 0)) {
      throw OpError("input: expected an image of at least " + std::to_string(filter_height_) +
                    " x " + std::to_string(filter_width_) + " for this VALID window, got shape " +
                    DimsString(dims) + "; feed larger images");
    }
    batch_ = dims[0];
    words_ = static_cast<size_t>(dims[3]);
    return {.dims = {dims[0], static_cast<int>(rows_.out), static_cast<int>(cols_.out), dims[3]},
            .channels = input.channels};
  }

  int64_t units() const override { return words_ == 0 ? 0 : batch_ * rows_.out; }

  void Run(const void* input, int64_t first, int64_t last, std::byte*,
           void* output) const override {
    BMaxPool2d(static_cast<const uint32_t*>(input), rows_, cols_, words_, first, last,
               static_cast<uint32_t*>(output));
  }

 private:
  int64_t filter_height_;
  int64_t filter_width_;
  int64_t stride_height_;
  int64_t stride_width_;
  bool same_;
  WindowAxis rows_;
  WindowAxis cols_;
  int64_t batch_ = 0;
  size_t words_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeBMaxPool2dStep(const OpInfo& op) {
  CheckInputCount(op, 1);
  CheckType(op.inputs[0], "input", {kTfLiteInt32});
  CheckType(op.output, "output", {kTfLiteInt32});
  return std::make_unique<BMaxPool2dStep>(Options(op.options, kKeys));
}

}  // namespace larq_engine
