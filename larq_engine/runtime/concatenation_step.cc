// CONCATENATION of the host, along channels.
#include <cstring>
#include <limits>

#include "larq_engine/runtime/op_checks.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {
namespace {

class ConcatenationStep : public Step {
 public:
  explicit ConcatenationStep(const OpInfo& op) : input_bytes_(op.inputs.size()) {}

  std::vector<size_t> data_inputs() const override {
    std::vector<size_t> all(input_bytes_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  TensorShape Resize(std::span<const TensorShape> inputs) override {
    std::vector<int> dims = inputs[0].dims;
    int64_t channels = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<int> expected = inputs[i].dims;
      if (expected.size() == dims.size()) expected.back() = dims.back();
      if (expected != dims) {
        throw OpError("inputs: expected shapes that differ in the last dimension only, got " +
                      DimsString(dims) + " and " + DimsString(inputs[i].dims) +
                      "; resize all inputs of the model alike, or load it with fuse=off");
      }
      CountElements(inputs[i].dims, inputs[i].dims.size());
      input_bytes_[i] = static_cast<size_t>(inputs[i].dims.back()) * sizeof(float);
      channels += inputs[i].dims.back();
    }
    if (channels > std::numeric_limits<int>::max()) {
      throw OpError("output: expected a number of channels that 32 bits hold, got " +
                    std::to_string(channels) + "; the file is corrupted");
    }
    dims.back() = static_cast<int>(channels);
    CountElements(dims, dims.size());
    pixels_ = CountElements(dims, dims.size() - 1);
    return {.dims = dims};
  }

  int64_t pixels() const override { return pixels_; }
  bool pixelwise() const override { return true; }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte*,
           void* output) const override {
    auto* out = static_cast<std::byte*>(output);
    const size_t rows = static_cast<size_t>(range.last_pixel - range.first_pixel);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        const auto* in = static_cast<const std::byte*>(inputs[i]) + row * input_bytes_[i];
        std::memcpy(out, in, input_bytes_[i]);
        out += input_bytes_[i];
      }
    }
  }

 private:
  std::vector<size_t> input_bytes_;  // of a pixel
  int64_t pixels_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeConcatenationStep(const OpInfo& op, const StepKernels&) {
  return std::make_unique<ConcatenationStep>(op);
}

}  // namespace larq_engine
