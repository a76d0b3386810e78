// Runs a single step in pieces of any size, as threads do.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_CPU_STEP_RUNNER_H_
#define LARQ_ENGINE_TESTS_RUNTIME_CPU_STEP_RUNNER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/runtime/cpu/step.h"

namespace larq_engine::testing {

// The most pixels and blocks of a piece.
struct PieceSize {
  int64_t pixels;
  int64_t blocks;
};

// The whole work, and pieces of one pixel or block, or a few.
inline constexpr PieceSize kWhole = {std::numeric_limits<int64_t>::max() / 2,
                                     std::numeric_limits<int64_t>::max() / 2};
inline constexpr PieceSize kPieceSizes[] = {
    kWhole, {1, 1}, {3, 2}, {1, kWhole.blocks}, {kWhole.pixels, 1}};

class StepRunner {
 public:
  explicit StepRunner(Op op, const std::string& kernel = std::string(kAutoKernel))
      : op_(std::move(op)),
        step_(MakeStep(
            op_, {.kernel = kernel,
                  .pixel_ops = SelectPixelOps(AllowedFeatures(DetectCpuFeatures(), kernel))})) {}

  // Returns the shape of the output.
  std::vector<int> Resize(std::vector<int> dims) { return ResizeAll({std::move(dims)}); }
  std::vector<int> ResizeAll(const std::vector<std::vector<int>>& dims) {
    std::vector<TensorShape> inputs;
    for (const std::vector<int>& own : dims) inputs.push_back({.dims = own});
    const TensorShape output = OutputShape(op_, inputs);
    step_->Resize(inputs, output);
    output_values_ = 1;
    for (int dim : output.dims) output_values_ *= static_cast<size_t>(dim);
    return output.dims;
  }

  // Computes the last pieces first. What no piece writes stays `untouched`.
  template <typename Out, typename In>
  std::vector<Out> Run(const std::vector<In>& input, PieceSize size, Out untouched) const {
    const auto pixels = static_cast<size_t>(step_->pixels());
    const size_t in_pixel = step_->reads_whole(0) || pixels == 0 ? 0 : input.size() / pixels;
    const void* data = nullptr;
    return RunPieces(size, untouched, [&](int64_t first) {
      data = input.data() + static_cast<size_t>(first) * in_pixel;
      return std::span(&data, 1);
    });
  }

  // The same for a step that reads all inputs whole.
  template <typename Out>
  std::vector<Out> RunAll(std::span<const void* const> inputs, PieceSize size,
                          Out untouched) const {
    return RunPieces(size, untouched, [&](int64_t) { return inputs; });
  }

  const Step& step() const { return *step_; }

 private:
  // `inputs_at` returns the addresses for a piece that begins with pixel `first`.
  template <typename Out, typename InputsAt>
  std::vector<Out> RunPieces(PieceSize size, Out untouched, const InputsAt& inputs_at) const {
    std::vector<Out> output(output_values_, untouched);
    const int64_t pixels = step_->pixels(), blocks = step_->blocks();
    if (pixels == 0) return output;
    const size_t out_pixel = output.size() / static_cast<size_t>(pixels);
    AlignedBuffer<std::byte> scratch(step_->scratch_bytes());
    for (int64_t last = pixels; last > 0; last -= std::min(last, size.pixels)) {
      const int64_t first = std::max<int64_t>(last - size.pixels, 0);
      for (int64_t end = blocks; end > 0; end -= std::min(end, size.blocks)) {
        step_->Run(inputs_at(first), {first, last, std::max<int64_t>(end - size.blocks, 0), end},
                   scratch.data(), output.data() + static_cast<size_t>(first) * out_pixel);
      }
    }
    return output;
  }

  Op op_;
  std::unique_ptr<Step> step_;
  size_t output_values_ = 0;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_CPU_STEP_RUNNER_H_
