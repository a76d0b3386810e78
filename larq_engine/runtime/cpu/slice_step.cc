// SPLIT, SPLIT_V, SLICE and STRIDED_SLICE of the host: a box out of a tensor.
#include <algorithm>
#include <cstring>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class SliceStep : public Step {
 public:
  explicit SliceStep(const SliceOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& in = inputs[0].dims;
    out_dims_ = output.dims;
    pixels_ = CountPixels(out_dims_);
    const std::vector<SliceOp::Range> box = op_.Ranges(in);
    is_of_channels_ = true;
    steps_.assign(in.size(), 0);
    begin_ = 0;
    auto bytes = static_cast<int64_t>(op_.element_bytes);
    for (size_t i = in.size(); i-- > 0;) {
      steps_[i] = bytes;
      begin_ += box[i].begin * bytes;
      bytes *= in[i];
      if (i + 1 < in.size() && box[i].end - box[i].begin != in[i]) is_of_channels_ = false;
    }
    pixel_bytes_ = static_cast<size_t>(out_dims_.back()) * op_.element_bytes;
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return is_of_channels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]) + begin_;
    auto* out = static_cast<std::byte*>(output);
    const int64_t first = is_of_channels_ ? 0 : range.first_pixel;
    for (int64_t i = 0; i < range.last_pixel - range.first_pixel; ++i, out += pixel_bytes_) {
      std::memcpy(out, in + PlaceOf(first + i), pixel_bytes_);
    }
  }

 private:
  // Of the output's pixel, in bytes from the box's first value.
  int64_t PlaceOf(int64_t pixel) const {
    const size_t channels = steps_.size() - 1;
    if (is_of_channels_) return channels == 0 ? 0 : pixel * steps_[channels - 1];
    int64_t place = 0;
    for (size_t i = channels; i-- > 0; pixel /= out_dims_[i]) {
      place += pixel % out_dims_[i] * steps_[i];
    }
    return place;
  }

  const SliceOp& op_;
  std::vector<int> out_dims_;
  std::vector<int64_t> steps_;   // bytes from one to the next of each of the input's dimensions
  int64_t begin_ = 0;            // bytes before the box
  bool is_of_channels_ = false;  // and of nothing else
  size_t pixel_bytes_ = 0;       // of the output
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SliceOp& op, const StepKernels&) {
  return std::make_unique<SliceStep>(op);
}

}  // namespace larq_engine
