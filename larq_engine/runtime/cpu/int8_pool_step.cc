// AVERAGE_POOL_2D and MAX_POOL_2D of the host on int8. Plain loops compute them.
#include <algorithm>
#include <limits>

#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class Int8PoolStep : public Step {
 public:
  explicit Int8PoolStep(const Int8PoolOp& op) : op_(op) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = inputs[0].dims;
    grid_ = OutputGrid(op_.window.Over(dims[1], dims[2]));
    channels_ = dims[3];
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  size_t scratch_bytes() const override {
    ScratchParts parts(nullptr);
    parts.Take<int32_t>(1, static_cast<size_t>(channels_));
    return parts.bytes();
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    if (range.first_pixel == range.last_pixel) return;
    auto* const pooled = ScratchParts(scratch).Take<int32_t>(1, static_cast<size_t>(channels_));
    auto* out = static_cast<int8_t*>(output);
    OutputGrid::Position position = grid_.Locate(range.first_pixel);
    for (int64_t i = range.first_pixel; i < range.last_pixel; ++i, grid_.Advance(position, 1)) {
      const int64_t taps = Pool(static_cast<const int8_t*>(inputs[0]), position, pooled);
      out = std::transform(pooled, pooled + channels_, out, [&](int32_t value) {
        if (op_.kind == Int8PoolOp::kAverage) value = Average(value, static_cast<int32_t>(taps));
        return static_cast<int8_t>(std::clamp(value, op_.lowest, op_.highest));
      });
    }
  }

 private:
  static int32_t Average(int32_t sum, int32_t taps) {
    return (sum > 0 ? sum + taps / 2 : sum - taps / 2) / taps;
  }

  // Sums the taps in the image up, or takes the largest. Returns how many there are.
  int64_t Pool(const int8_t* in, const OutputGrid::Position& position, int32_t* pooled) const {
    const WindowAxis& height = grid_.height();
    const WindowAxis& width = grid_.width();
    const WindowAxis::Taps lines = height.InsideTaps(position.y);
    const WindowAxis::Taps columns = width.InsideTaps(position.x);
    const bool is_max = op_.kind == Int8PoolOp::kMax;
    std::fill_n(pooled, channels_, is_max ? std::numeric_limits<int8_t>::min() : 0);
    for (int64_t ty = lines.first; ty < lines.last; ++ty) {
      const int64_t y = position.y * height.stride - height.pad_before + ty;
      for (int64_t tx = columns.first; tx < columns.last; ++tx) {
        const int64_t x = position.x * width.stride - width.pad_before + tx;
        const int8_t* const pixel =
            in + ((position.image * height.in + y) * width.in + x) * channels_;
        for (int64_t c = 0; c < channels_; ++c) {
          pooled[c] = is_max ? std::max<int32_t>(pooled[c], pixel[c]) : pooled[c] + pixel[c];
        }
      }
    }
    return (lines.last - lines.first) * (columns.last - columns.first);
  }

  const Int8PoolOp& op_;
  OutputGrid grid_;
  int64_t channels_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8PoolOp& op, const StepKernels&) {
  return std::make_unique<Int8PoolStep>(op);
}

}  // namespace larq_engine
