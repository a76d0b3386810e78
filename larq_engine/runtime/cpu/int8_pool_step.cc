// AVERAGE_POOL_2D and MAX_POOL_2D of the host on int8. Plain loops compute averages.
#include <algorithm>
#include <array>
#include <limits>

#include "larq_engine/kernels/common/output_grid.h"
#include "larq_engine/kernels/common/scratch_parts.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

class Int8PoolStep : public Step {
 public:
  Int8PoolStep(const Int8PoolOp& op, const PixelOps& ops) : op_(op), ops_(ops) {}

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
    auto* const sums = ScratchParts(scratch).Take<int32_t>(1, static_cast<size_t>(channels_));
    const auto* in = static_cast<const int8_t*>(inputs[0]);
    auto* out = static_cast<int8_t*>(output);
    OutputGrid::Position position = grid_.Locate(range.first_pixel);
    for (int64_t i = range.first_pixel; i < range.last_pixel; ++i, grid_.Advance(position, 1)) {
      if (op_.kind == Int8PoolOp::kMax) {
        TakeGreatest(in, position, out);
      } else {
        Average(in, position, sums, out);
      }
      out += channels_;
    }
  }

 private:
  int8_t Clamped(int32_t value) const {
    return static_cast<int8_t>(std::clamp(value, op_.lowest, op_.highest));
  }

  void TakeGreatest(const int8_t* in, const OutputGrid::Position& position, int8_t* out) const {
    std::array<const int8_t*, 16> taps = {out};
    size_t count = 1;  // the greatest of earlier taps is the first one
    std::fill_n(out, channels_, std::numeric_limits<int8_t>::min());
    const auto take_all = [&] {
      ops_.max_int8(taps.data(), count, static_cast<size_t>(channels_), out);
      count = 1;
    };
    grid_.ForInsideTaps(position, [&](int64_t, int64_t pixel) {
      if (count == taps.size()) take_all();
      taps[count++] = in + pixel * channels_;
    });
    take_all();
    std::transform(out, out + channels_, out, [&](int8_t value) { return Clamped(value); });
  }

  void Average(const int8_t* in, const OutputGrid::Position& position, int32_t* sums,
               int8_t* out) const {
    std::fill_n(sums, channels_, 0);
    int32_t count = 0;
    grid_.ForInsideTaps(position, [&](int64_t, int64_t pixel) {
      const int8_t* const tap = in + pixel * channels_;
      for (int64_t c = 0; c < channels_; ++c) sums[c] += tap[c];
      ++count;
    });
    std::transform(sums, sums + channels_, out, [&](int32_t sum) {
      return Clamped((sum > 0 ? sum + count / 2 : sum - count / 2) / count);
    });
  }

  const Int8PoolOp& op_;
  const PixelOps& ops_;
  OutputGrid grid_;
  int64_t channels_ = 0;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const Int8PoolOp& op, const StepKernels& kernels) {
  return std::make_unique<Int8PoolStep>(op, kernels.pixel_ops);
}

}  // namespace larq_engine
