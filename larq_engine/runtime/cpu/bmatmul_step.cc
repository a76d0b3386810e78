// LceBmatmul: a pixel of the step is a whole matrix of the output, and blocks are some of its rows.
#include <algorithm>
#include <optional>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/kernels/layers/bmatmul.h"
#include "larq_engine/kernels/layers/reference.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {
namespace {

// Rows that a thread gets at least, if there are fewer matrices than threads. Each thread packs the
// right matrix for itself, so that fewer rows would be packed for more than they are multiplied;
// the number was not measured.
constexpr int64_t kRowsOfBlock = 64;

const BgemmRow& ChooseRow(const BgemmShape& shape, const std::string& kernel) {
  const bool is_row = FindRow(BgemmRows(), kernel) != nullptr;
  const CpuFeatures cpu = AllowedFeatures(DetectCpuFeatures(), kernel);
  return *SelectBgemm(BgemmRows(), cpu, shape, is_row ? kernel : kAutoKernel).row;
}

class BmatmulStep : public Step {
 public:
  BmatmulStep(const BmatmulOp& op, const StepKernels& kernels) : op_(op), kernels_(kernels) {}

  void Resize(std::span<const TensorShape> inputs, const TensorShape& output) override {
    const std::vector<int>& dims = output.dims;
    rows_ = dims[dims.size() - 2];
    columns_ = dims.back();
    matrices_ = rows_ * columns_ == 0 ? 0 : CountElements(dims, dims.size() - 2);
    words_ = inputs[0].dims.back();
    if (kernels_.kernel == kReferenceKernel) return;
    const BgemmShape shape = {.n = columns_, .k_bits = op_.spec.depth, .one_pixel = rows_ == 1};
    product_.emplace(op_.spec, static_cast<size_t>(columns_), ChooseRow(shape, kernels_.kernel),
                     kernels_.pixel_ops);
  }

  int64_t pixels() const override { return matrices_; }
  int64_t blocks() const override {
    return std::max<int64_t>(1, (rows_ + kRowsOfBlock - 1) / kRowsOfBlock);
  }
  KernelPixels kernel_pixels() const override { return {.tile = 1}; }
  size_t scratch_bytes() const override { return product_ ? product_->scratch_bytes() : 0; }
  std::string kernel() const override {
    return product_ ? product_->kernel() : std::string(kReferenceKernel);
  }

  void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
           void* output) const override {
    const int64_t first = range.first_block * kRowsOfBlock;
    const int64_t last = std::min(range.last_block * kRowsOfBlock, rows_);
    auto* out = static_cast<float*>(output) + first * columns_;
    for (int64_t i = range.first_pixel; i < range.last_pixel; ++i, out += rows_ * columns_) {
      const auto* left = static_cast<const uint32_t*>(inputs[0]) + (i * rows_ + first) * words_;
      const auto* right = static_cast<const uint32_t*>(inputs[1]) + i * columns_ * words_;
      if (product_) {
        product_->Run(left, static_cast<size_t>(last - first), right, scratch, out);
      } else {
        ReferenceBmatmul(op_.spec, left, last - first, right, columns_, out);
      }
    }
  }

 private:
  const BmatmulOp& op_;
  StepKernels kernels_;
  std::optional<Bmatmul> product_;  // none for the reference
  int64_t matrices_ = 0;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t words_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const BmatmulOp& op, const StepKernels& kernels) {
  return std::make_unique<BmatmulStep>(op, kernels);
}

}  // namespace larq_engine
