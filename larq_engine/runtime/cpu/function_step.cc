// Functions of one value of the host, and CAST.
#include "larq_engine/kernels/layers/value_loops.h"
#include "larq_engine/runtime/cpu/pixelwise_step.h"
#include "larq_engine/runtime/cpu/value_blocks.h"

namespace larq_engine {
namespace {

class FunctionStep : public PixelwiseStep {
 public:
  FunctionStep(ValueLoop loop, float alpha, ValueType from, ValueType to)
      : loop_(loop), alpha_(alpha), in_bytes_(BytesOf(from)), out_bytes_(BytesOf(to)) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    PixelwiseStep::Resize(inputs, output);
    blocks_ = ValueBlocks(Channels(output.dims));
  }
  int64_t blocks() const override { return blocks_.blocks(); }
  bool in_place() const override { return in_bytes_ == out_bytes_; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    const auto* in = static_cast<const std::byte*>(inputs[0]);
    auto* out = static_cast<std::byte*>(output);
    blocks_.ForEachStretch(range, [&](int64_t first, int64_t count) {
      const auto index = static_cast<size_t>(first);
      loop_(in + index * in_bytes_, static_cast<size_t>(count), alpha_, out + index * out_bytes_);
    });
  }

 private:
  ValueLoop loop_;
  float alpha_;
  size_t in_bytes_;  // of a value
  size_t out_bytes_;
  ValueBlocks blocks_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const FunctionOp& op, const StepKernels& kernels) {
  return std::make_unique<FunctionStep>(LoopOf(op.function, op.type, kernels.pixel_ops), op.alpha,
                                        op.type, op.type);
}

std::unique_ptr<Step> MakeStep(const CastOp& op, const StepKernels&) {
  return std::make_unique<FunctionStep>(CastLoopOf(op.from, op.to), 0.0f, op.from, op.to);
}

}  // namespace larq_engine
