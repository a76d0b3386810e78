// A step of a plan on the CPU: one operator, or one that computes others as well
// (residual_sums.h, pooled_products.h, grouped_convs.h), sized for its input, then run as often as
// wanted.
#ifndef LARQ_ENGINE_RUNTIME_CPU_STEP_H_
#define LARQ_ENGINE_RUNTIME_CPU_STEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/even_parts.h"
#include "larq_engine/kernels/pixel_ops.h"
#include "larq_engine/runtime/cpu/fusion.h"
#include "larq_engine/runtime/ops/op.h"

namespace larq_engine {

class Step {
 public:
  virtual ~Step() = default;

  // Sizes the step for the shapes of its operator's data inputs and output. Throws OpError. Called
  // again whenever those change.
  virtual void Resize(std::span<const TensorShape> inputs, const TensorShape& output) = 0;

  virtual int64_t pixels() const = 0;
  // That the work of a pixel can be cut into: of its channels, or parts that Run puts together.
  // Each of a pixel's blocks is computed once before any is again.
  virtual int64_t blocks() const { return 1; }

  // Of a group the largest counts.
  virtual KernelPixels kernel_pixels() const { return {.tile = 8}; }

  // Whether it can follow other steps on a tile: pixel i of the output is made of pixel i of the
  // inputs and nothing else, but for inputs that are read whole. Those it may read anywhere, so
  // they are made before. A convolution begins a group, whatever it adds, but for 1x1 ones of
  // floats.
  virtual bool pixelwise() const { return false; }
  virtual bool reads_whole(size_t) const { return !pixelwise(); }

  // Whether a pixel of the output may be written over the same pixel of an input, if that is not
  // read whole.
  virtual bool in_place() const { return false; }

  // `output` is where the range's first pixel belongs, and so are `inputs` that are not read whole;
  // the others are where the tensors begin.
  virtual void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                   void* output) const = 0;

  // Memory for each concurrent Run, aligned to kBufferAlignment.
  virtual size_t scratch_bytes() const { return 0; }

  // Which row computes it, where there is a choice.
  virtual std::string kernel() const { return ""; }
};

// What computes steps.
struct StepKernels {
  std::string kernel;  // kAutoKernel, kReferenceKernel, or the name of a row
  const PixelOps& pixel_ops;
};

// Why there is no step of an operator that is for other devices.
inline constexpr const char* kHostComputesIt = "the host computes it on the CPU";

// `op` must live as long as the step. Throws OpError for one that is for other devices.
std::unique_ptr<Step> MakeStep(const Op& op, const StepKernels& kernels);

std::unique_ptr<Step> MakeStep(const QuantizeOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const DequantizeOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const StepKernels& kernels);

// A convolution of bits that makes floats, and the operators that it absorbed (residual_sums.h), of
// which `sum` is the one that is always there.
struct ResidualOps {
  bool is_gated = false;
  const PreluOp* prelu = nullptr;
  const BinaryOp* sum = nullptr;
};
std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const ResidualOps& residual,
                               const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, const StepKernels& kernels);
// Of products with these factors (pooled_products.h): one, or one for each channel; or none.
std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, std::vector<float> factors,
                               const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const BinaryOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ClampOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PreluOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const LogisticOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const AveragePool2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const MeanOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const DenseOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ConcatenationOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SignedDenseOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8Conv2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Conv2dOp& op, const StepKernels& kernels);
// Of a convolution in groups, whose convolutions are all alike (grouped_convs.h).
std::unique_ptr<Step> MakeStep(std::span<const Conv2dOp* const> groups, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SliceOp& op, const StepKernels& kernels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_H_
