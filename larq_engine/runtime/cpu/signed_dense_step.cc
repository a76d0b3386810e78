// FULLY_CONNECTED of the host with weights of a bit each.
#include <algorithm>

#include "larq_engine/kernels/signed_dense.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

// Fewer outputs are not worth a thread's while.
constexpr size_t kBlocksOfPart = 4;

template <typename Output, typename Value>
class SignedDenseStep : public Step {
 public:
  SignedDenseStep(const SignedDenseOp& op, const Output& output, SignedWeights::SignBit sign_bit,
                  const StepKernels& kernels)
      : output_(output),
        row_(SelectSignedSums(DetectCpuFeatures(), kernels.kernel)),
        weights_(op.weights.packed.bits, static_cast<size_t>(op.shape.units),
                 static_cast<size_t>(op.shape.depth), sign_bit) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return pixels_; }
  int64_t channel_blocks() const override {
    return static_cast<int64_t>((weights_.blocks() + kBlocksOfPart - 1) / kBlocksOfPart);
  }
  int64_t kernel_pixels() const override { return 1; }
  size_t scratch_bytes() const override { return SignedDenseScratch(weights_, sizeof(Value)); }
  std::string kernel() const override { return row_.name; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const SignedDenseRange blocks = {
        .first_row = static_cast<size_t>(range.first_pixel),
        .last_row = static_cast<size_t>(range.last_pixel),
        .first_block = static_cast<size_t>(range.first_block) * kBlocksOfPart,
        .last_block =
            std::min(static_cast<size_t>(range.last_block) * kBlocksOfPart, weights_.blocks())};
    RunSignedDense(*row_.sums, weights_, output_, static_cast<const Value*>(inputs[0]), blocks,
                   scratch, static_cast<Value*>(output));
  }

 private:
  const Output& output_;
  const SignedSumsRow& row_;
  SignedWeights weights_;
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const SignedDenseOp& op, const StepKernels& kernels) {
  if (const auto* output = std::get_if<Int8DenseOutput>(&op.output)) {
    return std::make_unique<SignedDenseStep<Int8DenseOutput, int8_t>>(op, *output, Int8SignBit,
                                                                      kernels);
  }
  return std::make_unique<SignedDenseStep<FloatDenseOutput, float>>(
      op, std::get<FloatDenseOutput>(op.output), FloatSignBit, kernels);
}

}  // namespace larq_engine
