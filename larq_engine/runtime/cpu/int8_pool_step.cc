// AVERAGE_POOL_2D and MAX_POOL_2D of the host on int8. Plain loops compute averages.
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
    Take(parts);
    return parts.bytes();
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    if (range.first_pixel == range.last_pixel) return;
    ScratchParts parts(scratch);
    const Scratch taken = Take(parts);
    auto* out = static_cast<int8_t*>(output);
    OutputGrid::Position position = grid_.Locate(range.first_pixel);
    for (int64_t i = range.first_pixel; i < range.last_pixel; ++i, grid_.Advance(position, 1)) {
      const size_t taps = FindTaps(static_cast<const int8_t*>(inputs[0]), position, taken.taps);
      const std::span<const int8_t* const> found(taken.taps, taps);
      if (op_.kind == Int8PoolOp::kMax) {
        TakeGreatest(found, out);
      } else {
        Average(found, taken.sums, out);
      }
      out += channels_;
    }
  }

 private:
  struct Scratch {
    const int8_t** taps;
    int32_t* sums;  // of averages
  };

  Scratch Take(ScratchParts& parts) const {
    // A window may be larger than the image.
    const auto most = [](const WindowAxis& axis) { return std::min(axis.taps, axis.in); };
    const auto taps = static_cast<size_t>(most(grid_.height()) * most(grid_.width()));
    const bool has_sums = op_.kind == Int8PoolOp::kAverage;
    return {.taps = parts.Take<const int8_t*>(1, taps),
            .sums = parts.Take<int32_t>(has_sums ? 1 : 0, static_cast<size_t>(channels_))};
  }

  // Finds the pixels of the taps in the image. Returns how many there are.
  size_t FindTaps(const int8_t* in, const OutputGrid::Position& position,
                  const int8_t** taps) const {
    const WindowAxis& height = grid_.height();
    const WindowAxis& width = grid_.width();
    const WindowAxis::Taps lines = height.InsideTaps(position.y);
    const WindowAxis::Taps columns = width.InsideTaps(position.x);
    size_t found = 0;
    for (int64_t ty = lines.first; ty < lines.last; ++ty) {
      const int64_t y = position.y * height.stride - height.pad_before + ty;
      for (int64_t tx = columns.first; tx < columns.last; ++tx) {
        const int64_t x = position.x * width.stride - width.pad_before + tx;
        taps[found++] = in + ((position.image * height.in + y) * width.in + x) * channels_;
      }
    }
    return found;
  }

  int8_t Clamped(int32_t value) const {
    return static_cast<int8_t>(std::clamp(value, op_.lowest, op_.highest));
  }

  void TakeGreatest(std::span<const int8_t* const> taps, int8_t* out) const {
    using Limits = std::numeric_limits<int8_t>;
    if (taps.empty()) {
      std::fill_n(out, channels_, Clamped(Limits::min()));
      return;
    }
    ops_.max_int8(taps.data(), taps.size(), static_cast<size_t>(channels_), out);
    if (op_.lowest <= Limits::min() && op_.highest >= Limits::max()) return;
    std::transform(out, out + channels_, out, [&](int8_t value) { return Clamped(value); });
  }

  void Average(std::span<const int8_t* const> taps, int32_t* sums, int8_t* out) const {
    std::fill_n(sums, channels_, 0);
    for (const int8_t* tap : taps) {
      for (int64_t c = 0; c < channels_; ++c) sums[c] += tap[c];
    }
    const auto count = static_cast<int32_t>(taps.size());
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
