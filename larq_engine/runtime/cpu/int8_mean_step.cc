// MEAN of the host on int8. A plain loop adds the values up; a pixel is a run of the output.
#include <algorithm>

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/kernels/common/round_to_int8.h"
#include "larq_engine/runtime/cpu/reduced_axes.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

class Int8MeanStep : public Step {
 public:
  explicit Int8MeanStep(const Int8MeanOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    axes_ = ReducedAxes(inputs[0].dims, op_.is_mean);
    const int64_t values = CountElements(output.dims, output.dims.size());
    pixels_ = values == 0 ? 0 : values / axes_.run();
  }

  int64_t pixels() const override { return pixels_; }
  size_t scratch_bytes() const override {
    return MemoryProduct(static_cast<size_t>(axes_.run()), sizeof(uint32_t));
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* in = static_cast<const int8_t*>(inputs[0]);
    auto* out = static_cast<int8_t*>(output);
    for (int64_t pixel = range.first_pixel; pixel < range.last_pixel; ++pixel) {
      out = RunPixel(in + axes_.First(pixel), reinterpret_cast<uint32_t*>(scratch), out);
    }
  }

 private:
  // Sums wrap, as the host's do.
  int8_t* RunPixel(const int8_t* first, uint32_t* sums, int8_t* out) const {
    const auto count = static_cast<uint32_t>(axes_.count());
    std::fill_n(sums, axes_.run(), -count * static_cast<uint32_t>(op_.in_zero_point));
    axes_.ForEach([&](int64_t distance) {
      std::transform(sums, sums + axes_.run(), first + distance, sums,
                     [](uint32_t sum, int8_t value) { return sum + static_cast<uint32_t>(value); });
    });
    const float multiplier = op_.ratio * (1 / static_cast<float>(axes_.count()));
    return std::transform(sums, sums + axes_.run(), out, [&](uint32_t sum) {
      const float mean = static_cast<float>(static_cast<int32_t>(sum)) * multiplier +
                         static_cast<float>(op_.zero_point);
      return RoundToInt8(mean, {-128, 127}, 0);
    });
  }

  const Int8MeanOp& op_;
  ReducedAxes axes_;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8MeanOp& op, const StepKernels&) {
  return std::make_unique<Int8MeanStep>(op);
}

}  // namespace larq_engine
