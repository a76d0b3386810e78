// Functions of one value of the host.
#include "larq_engine/kernels/layers/value_loops.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/cpu/value_blocks.h"

namespace larq_engine {
namespace {

class FunctionStep : public Step {
 public:
  FunctionStep(ValueLoop loop, float alpha, size_t value_bytes)
      : loop_(loop), alpha_(alpha), value_bytes_(value_bytes) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    blocks_ = ValueBlocks(Channels(output.dims));
  }
  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override { return blocks_.blocks(); }
  bool pixelwise() const override { return true; }
  bool in_place() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]);
    auto* out = static_cast<std::byte*>(output);
    blocks_.ForEachStretch(range, [&](int64_t first, int64_t count) {
      const size_t offset = static_cast<size_t>(first) * value_bytes_;
      loop_(in + offset, static_cast<size_t>(count), alpha_, out + offset);
    });
  }

 private:
  ValueLoop loop_;
  float alpha_;
  size_t value_bytes_;
  int64_t pixels_ = 0;
  ValueBlocks blocks_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const FunctionOp& op, const StepKernels&) {
  return std::make_unique<FunctionStep>(LoopOf(op.function, op.type), op.alpha, BytesOf(op.type));
}

}  // namespace larq_engine
