// A step that makes each value of one value of each operand. The operands are broadcast.
#ifndef LARQ_ENGINE_RUNTIME_CPU_BROADCAST_STEP_H_
#define LARQ_ENGINE_RUNTIME_CPU_BROADCAST_STEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/kernels/layers/broadcast_loops.h"
#include "larq_engine/runtime/cpu/broadcast_lines.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/value_blocks.h"

namespace larq_engine {

class BroadcastStep : public Step {
 public:
  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override;
  int64_t pixels() const override { return pixels_; }
  int64_t blocks() const override { return blocks_.blocks(); }
  bool pixelwise() const override { return pixelwise_; }
  bool reads_whole(size_t input) const override {
    return !pixelwise_ || (roles_[input] != kAlike && roles_[input] != kOneAPixel);
  }
  bool in_place() const override { return pixelwise_; }
  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override;

 protected:
  // Values have these sizes in bytes.
  BroadcastStep(std::vector<size_t> input_bytes, size_t output_bytes)
      : input_bytes_(std::move(input_bytes)), output_bytes_(output_bytes) {}

  // Returns the operands' shapes for those of the inputs.
  virtual std::vector<std::vector<int>> OperandDims(std::span<const TensorShape> inputs) const;
  virtual void RunLine(std::span<const LineOperand> operands, size_t count, void* out) const = 0;

 private:
  // kAlike: the operand has the output's shape. kOneAPixel: it has one value for each pixel. kOne:
  // it is one value. kChannels: it has one for each channel. If there are no others, and one has
  // values of each pixel, the step is pixelwise.
  enum Role : uint8_t { kAlike, kOneAPixel, kOne, kChannels, kOther };
  using Operands = std::array<LineOperand, BroadcastLines::kMostOperands>;

  Operands OperandsOf(std::span<const void* const> inputs, const StepRange& range, int64_t pixel,
                      int64_t first) const;

  std::vector<size_t> input_bytes_;
  size_t output_bytes_;
  std::vector<Role> roles_;
  bool pixelwise_ = false;
  BroadcastLines lines_;
  ValueBlocks blocks_;
  int64_t pixels_ = 0;  // lines, unless the step is pixelwise
  int64_t values_ = 1;  // of a pixel
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_BROADCAST_STEP_H_
