// PAD and PADV2 of the host.
#include <algorithm>
#include <array>
#include <vector>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

template <typename T>
class PadStep : public Step {
 public:
  PadStep(const PadOp& op, T value) : value_(value), pads_(op.pads) {
    // A vector is a line of one pixel.
    if (pads_.size() == 1) pads_.insert(pads_.begin(), {0, 0});
    is_of_channels_ = std::all_of(pads_.begin(), pads_.end() - 1,
                                  [](const auto& pad) { return pad[0] == 0 && pad[1] == 0; });
  }

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    in_dims_.assign(inputs[0].dims.begin(), inputs[0].dims.end());
    out_dims_.assign(output.dims.begin(), output.dims.end());
    if (in_dims_.size() == 1) {
      in_dims_.insert(in_dims_.begin(), 1);
      out_dims_.insert(out_dims_.begin(), 1);
    }
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return is_of_channels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const T*>(inputs[0]);
    auto* out = static_cast<T*>(output);
    if (is_of_channels_) {
      CopyPixels(in, range.last_pixel - range.first_pixel, out);
      return;
    }
    const int64_t width = out_dims_[out_dims_.size() - 2];
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel;) {
      const int64_t x = pixel % width;
      const int64_t count = std::min(width - x, range.last_pixel - pixel);
      out = WriteLine(in, pixel / width, x, x + count, out);
      pixel += count;
    }
  }

 private:
  int64_t in_channels() const { return in_dims_.back(); }
  int64_t out_channels() const { return out_dims_.back(); }

  // Writes pixels [first, last) of a line of the output. Returns the end of what is written.
  T* WriteLine(const T* in, int64_t line, int64_t first, int64_t last, T* out) const {
    const size_t axis = in_dims_.size() - 2;
    const T* from = LineAt(in, line);
    if (from == nullptr) return Fill((last - first) * out_channels(), out);
    const int64_t before = pads_[axis][0];
    const int64_t begin = std::clamp(before, first, last);
    const int64_t end = std::clamp(before + in_dims_[axis], begin, last);
    out = Fill((begin - first) * out_channels(), out);
    out = CopyPixels(from + (begin - before) * in_channels(), end - begin, out);
    return Fill((last - end) * out_channels(), out);
  }

  // Returns the line of the input that a line of the output has in its middle; null if that is all
  // padding, or if the input is empty.
  const T* LineAt(const T* in, int64_t line) const {
    int64_t step = in_channels() * in_dims_[in_dims_.size() - 2];
    int64_t offset = 0;
    for (size_t axis = in_dims_.size() - 2; axis-- > 0; line /= out_dims_[axis]) {
      const int64_t index = line % out_dims_[axis] - pads_[axis][0];
      if (index < 0 || index >= in_dims_[axis]) return nullptr;
      offset += index * step;
      step *= in_dims_[axis];
    }
    return in + offset;
  }

  T* CopyPixels(const T* in, int64_t count, T* out) const {
    const std::array<int, 2>& pad = pads_.back();
    if (pad[0] == 0 && pad[1] == 0) return std::copy_n(in, count * in_channels(), out);
    for (int64_t i = 0; i < count; ++i, in += in_channels()) {
      out = Fill(pad[0], out);
      out = std::copy_n(in, in_channels(), out);
      out = Fill(pad[1], out);
    }
    return out;
  }

  T* Fill(int64_t count, T* out) const { return std::fill_n(out, count, value_); }

  T value_;
  std::vector<std::array<int, 2>> pads_;  // for each dimension: before and after
  bool is_of_channels_;                   // nothing but channels is padded
  std::vector<int64_t> in_dims_;
  std::vector<int64_t> out_dims_;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const PadOp& op, const StepKernels&) {
  return std::make_unique<PadStep<float>>(op, op.value);
}

std::unique_ptr<Step> MakeStep(const PadBytesOp& op, const StepKernels&) {
  return std::make_unique<PadStep<int8_t>>(op.pad, op.value);
}

std::unique_ptr<Step> MakeStep(const PadIntsOp& op, const StepKernels&) {
  return std::make_unique<PadStep<int32_t>>(op.pad, op.value);
}

}  // namespace larq_engine
