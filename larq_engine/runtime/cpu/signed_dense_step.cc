// FULLY_CONNECTED of the host with weights of one bit each.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/layers/signed_bytes.h"
#include "larq_engine/kernels/layers/signed_dense.h"
#include "larq_engine/kernels/signed_sums/select.h"
#include "larq_engine/runtime/cpu/int8_row.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"

namespace larq_engine {
namespace {

// Blocks that a thread gets at least. Fewer outputs are not worth waking it.
constexpr size_t kBlocksOfPart = 4;

static_assert(kBlocksOfPart * kSignedLanes % kRhsPartColumns == 0);

template <typename Output, typename Value>
class SignedDenseStep : public Step {
 public:
  SignedDenseStep(const SignedDenseOp& op, const Output& output, SignedWeights::SignBit sign_bit,
                  const StepKernels& kernels)
      : output_(output),
        kernels_(kernels),
        packed_(op.weights.packed),
        row_(SelectSignedSums(AllowedFeatures(DetectCpuFeatures(), kernels.kernel))),
        weights_(packed_.bits, static_cast<size_t>(op.shape.units),
                 static_cast<size_t>(op.shape.depth), sign_bit) {}

  void Resize(std::span<const TensorShape>, const TensorShape& output) override {
    pixels_ = CountPixels(output.dims);
    if constexpr (kIsInt8) PrepareBytes();
  }

  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override {
    return static_cast<int64_t>((weights_.blocks() + kBlocksOfPart - 1) / kBlocksOfPart);
  }
  KernelPixels kernel_pixels() const override {
    return {.tile = bytes_ ? std::min(static_cast<int64_t>(bytes_->rows()), pixels_) : 1};
  }
  size_t scratch_bytes() const override {
    return bytes_ ? bytes_->scratch_bytes() : SignedDenseScratch(weights_, sizeof(Value));
  }
  std::string kernel() const override { return bytes_ ? bytes_->kernel() : row_.name; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const SignedDenseRange blocks = {
        .first_row = static_cast<size_t>(range.first_pixel),
        .last_row = static_cast<size_t>(range.last_pixel),
        .first_block = static_cast<size_t>(range.first_block) * kBlocksOfPart,
        .last_block =
            std::min(static_cast<size_t>(range.last_block) * kBlocksOfPart, weights_.blocks())};
    const auto* in = static_cast<const Value*>(inputs[0]);
    auto* out = static_cast<Value*>(output);
    if constexpr (kIsInt8) {
      if (bytes_) return bytes_->Run(in, blocks, scratch, out);
    }
    RunSignedDense(*row_.sums, weights_, output_, in, blocks, scratch, out);
  }

 private:
  void PrepareBytes() {
    const Int8Conv2dSpec spec = {.in_channels = static_cast<int64_t>(weights_.depth()),
                                 .out_channels = static_cast<int64_t>(weights_.units())};
    const int64_t weights = spec.in_channels * spec.out_channels;
    const auto prefers = [&](const ByteRow& row) {
      return PrefersSignedBytes(row, pixels_, weights);
    };
    // The system's permission is only asked for if it is needed.
    if (!prefers(SelectInt8(AllowedFeatures(DetectCpuFeatures(), kernels_.kernel), spec,
                            kernels_.kernel))) {
      bytes_.reset();
    } else if (!bytes_) {
      const ByteRow& row = PermittedInt8Row(spec, kernels_.kernel);
      if (prefers(row)) bytes_.emplace(packed_, output_, row, kernels_.pixel_ops);
    }
  }

  static constexpr bool kIsInt8 = std::is_same_v<Value, int8_t>;

  const Output& output_;
  const StepKernels kernels_;
  const PackedWeights packed_;
  const SignedSumsRow& row_;
  SignedWeights weights_;
  std::optional<SignedBytes> bytes_;  // for many rows
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
