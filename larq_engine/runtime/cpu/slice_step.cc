// SPLIT, SPLIT_V, SLICE and STRIDED_SLICE of the host. Each copies a box out of a tensor.
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
    const std::vector<SliceOp::Range> box = op_.Ranges(in);
    out_dims_ = output.dims;
    pixels_ = CountPixels(out_dims_);
    pixel_bytes_ = static_cast<int64_t>(out_dims_.back()) * static_cast<int64_t>(op_.element_bytes);
    steps_.assign(in.size(), 0);
    begin_ = 0;
    is_of_channels_ = true;
    auto bytes = static_cast<int64_t>(op_.element_bytes);
    for (size_t i = in.size(); i-- > 0;) {
      steps_[i] = bytes;
      begin_ += box[i].begin * bytes;
      bytes *= in[i];
      if (i + 1 < in.size() && box[i].end - box[i].begin != in[i]) is_of_channels_ = false;
    }
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return is_of_channels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]) + begin_;
    auto* out = static_cast<std::byte*>(output);
    if (is_of_channels_) return CopyPixels(in, range.last_pixel - range.first_pixel, out);
    const int64_t line = out_dims_.size() > 1 ? out_dims_[out_dims_.size() - 2] : 1;
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel;) {
      const int64_t count = std::min(line - pixel % line, range.last_pixel - pixel);
      CopyPixels(in + PlaceOf(pixel), count, out);
      out += count * pixel_bytes_;
      pixel += count;
    }
  }

 private:
  // Copies the pixels of one line, or of all lines if only channels are cut.
  void CopyPixels(const std::byte* in, int64_t count, std::byte* out) const {
    const int64_t step = steps_.size() > 1 ? steps_[steps_.size() - 2] : pixel_bytes_;
    if (step == pixel_bytes_) {
      std::memcpy(out, in, static_cast<size_t>(count * pixel_bytes_));
      return;
    }
    for (int64_t i = 0; i < count; ++i, in += step, out += pixel_bytes_) {
      std::memcpy(out, in, static_cast<size_t>(pixel_bytes_));
    }
  }

  // Returns the offset, in bytes from the box's first value, of what belongs to the output's pixel.
  int64_t PlaceOf(int64_t pixel) const {
    int64_t place = 0;
    for (size_t i = steps_.size() - 1; i-- > 0; pixel /= out_dims_[i]) {
      place += pixel % out_dims_[i] * steps_[i];
    }
    return place;
  }

  const SliceOp& op_;
  std::vector<int> out_dims_;
  std::vector<int64_t> steps_;   // for each input dimension: bytes to the next index
  int64_t begin_ = 0;            // bytes before the box
  bool is_of_channels_ = false;  // only channels are cut
  int64_t pixel_bytes_ = 0;      // size of the output's pixels
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SliceOp& op, const StepKernels&) {
  return std::make_unique<SliceStep>(op);
}

}  // namespace larq_engine
