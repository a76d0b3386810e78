// BATCH_MATMUL of the host.
#include <algorithm>

#include "larq_engine/kernels/floats/select.h"
#include "larq_engine/kernels/layers/matrix_product.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_pixels.h"
#include "larq_engine/runtime/ops/broadcast.h"

namespace larq_engine {
namespace {

// Finds the matrices of an operand for those of the result.
BroadcastPixels Matrices(std::vector<int> dims, std::vector<int> result) {
  dims.erase(dims.end() - 2);
  dims.back() = 1;
  result.erase(result.end() - 2);
  result.back() = 1;
  return {dims, result};
}

// The step's pixels are rows of the results.
class BatchMatmulStep : public Step {
 public:
  BatchMatmulStep(const BatchMatmulOp& op, const StepKernels& kernels)
      : op_(op), product_(SelectFloats(AllowedFeatures(DetectCpuFeatures(), kernels.kernel))) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& left = inputs[0].dims;
    matrix_rows_ = output.dims[output.dims.size() - 2];
    columns_ = output.dims.back();
    depth_ = op_.Depth(left);
    product_.Resize({.rows = matrix_rows_,
                     .columns = columns_,
                     .depth = depth_,
                     .left_is_transposed = op_.left_is_transposed,
                     .right_is_transposed = op_.right_is_transposed});
    lefts_ = Matrices(left, output.dims);
    rights_ = Matrices(inputs[1].dims, output.dims);
    rows_ = CountPixels(output.dims);
  }

  int64_t pixels() const override { return rows_; }
  int64_t blocks() const override { return product_.column_blocks(); }
  KernelPixels kernel_pixels() const override { return {.tile = kTileRows}; }
  size_t scratch_bytes() const override { return product_.scratch_bytes(); }
  std::string kernel() const override { return product_.kernel(); }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const auto* left = static_cast<const float*>(inputs[0]);
    const auto* right = static_cast<const float*>(inputs[1]);
    auto* out = static_cast<float*>(output);
    for (int64_t row = range.first_pixel; row < range.last_pixel;) {
      const int64_t matrix = row / matrix_rows_, first = row % matrix_rows_;
      const int64_t last = std::min(matrix_rows_, first + range.last_pixel - row);
      product_.Run(left + static_cast<int64_t>(lefts_.Begin(matrix)) * matrix_rows_ * depth_,
                   right + static_cast<int64_t>(rights_.Begin(matrix)) * depth_ * columns_, first,
                   last, range.first_block, range.last_block, scratch, out);
      row += last - first;
      out += (last - first) * columns_;
    }
  }

 private:
  // Each tile packs the right matrix anew. Tiles of more rows would pack less, but leave threads
  // fewer tiles to share. The factor of 4 was chosen without a measurement.
  static constexpr int64_t kTileRows = 4 * static_cast<int64_t>(kFloatPixels);

  const BatchMatmulOp& op_;
  MatrixProduct product_;
  BroadcastPixels lefts_;
  BroadcastPixels rights_;
  int64_t matrix_rows_ = 1;
  int64_t columns_ = 1;
  int64_t depth_ = 1;
  int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const BatchMatmulOp& op, const StepKernels& kernels) {
  return std::make_unique<BatchMatmulStep>(op, kernels);
}

}  // namespace larq_engine
