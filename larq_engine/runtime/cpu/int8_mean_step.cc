// MEAN of the host on int8. A plain loop adds the values up.
#include <vector>

#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class Int8MeanStep : public Step {
 public:
  explicit Int8MeanStep(const Int8MeanOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    channels_ = output.dims.empty() ? 1 : output.dims.back();
    kept_.clear();
    places_ = {0};
    const std::vector<int>& dims = inputs[0].dims;
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) {
      if (op_.is_mean[i]) {
        AddPlaces(dims[i], stride);
      } else {
        kept_.push_back({.size = dims[i], .stride = stride});
      }
    }
  }

  int64_t pixels() const override { return pixels_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const int8_t*>(inputs[0]);
    auto* out = static_cast<int8_t*>(output);
    const float multiplier = op_.ratio * (1 / static_cast<float>(places_.size()));
    const auto of_zeros =
        static_cast<uint32_t>(places_.size()) * static_cast<uint32_t>(op_.in_zero_point);
    for (int64_t i = range.first_pixel * channels_; i < range.last_pixel * channels_; ++i) {
      const int8_t* const first = in + FirstValue(i);
      uint32_t sum = -of_zeros;  // wraps, as the host's do
      for (int64_t place : places_) sum += static_cast<uint32_t>(first[place]);
      const float mean = static_cast<float>(static_cast<int32_t>(sum)) * multiplier +
                         static_cast<float>(op_.zero_point);
      *out++ = RoundToInt8(mean, {-128, 127}, 0);
    }
  }

 private:
  struct Axis {
    int64_t size;
    int64_t stride;  // in values of the input
  };

  // Repeats the places along one more axis.
  void AddPlaces(int64_t size, int64_t stride) {
    const std::vector<int64_t> of_one = std::move(places_);
    places_.clear();
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t place : of_one) places_.push_back(i * stride + place);
    }
  }

  // Returns where the first value lies that value `index` of the output is made of.
  int64_t FirstValue(int64_t index) const {
    int64_t first = 0;
    for (const Axis& axis : kept_) {
      first += index % axis.size * axis.stride;
      index /= axis.size;
    }
    return first;
  }

  const Int8MeanOp& op_;
  std::vector<Axis> kept_;       // innermost first
  std::vector<int64_t> places_;  // of the values of a mean, after the first of them
  int64_t pixels_ = 0;
  int64_t channels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8MeanOp& op, const StepKernels&) {
  return std::make_unique<Int8MeanStep>(op);
}

}  // namespace larq_engine
