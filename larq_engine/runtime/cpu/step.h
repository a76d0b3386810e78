// A step of a plan on the CPU. It computes one operator, or others as well (residual_sums.h,
// pooled_products.h, grouped_convs.h). It is sized for its inputs, then run as often as wanted.
#ifndef LARQ_ENGINE_RUNTIME_CPU_STEP_H_
#define LARQ_ENGINE_RUNTIME_CPU_STEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/common/even_parts.h"
#include "larq_engine/kernels/pixels/pixel_ops.h"
#include "larq_engine/runtime/cpu/fusion.h"
#include "larq_engine/runtime/ops/op.h"

namespace larq_engine {

class Step {
 public:
  virtual ~Step() = default;

  // Sizes the step for the shapes of its operator's data inputs and output. Called again whenever
  // those change. Throws OpError.
  virtual void Resize(std::span<const TensorShape> inputs, const TensorShape& output) = 0;

  virtual int64_t pixels() const = 0;
  // Returns the number of blocks that a pixel's work can be cut into: some channels each, or parts
  // that Run puts together. In a run, each block of a pixel is computed exactly once.
  virtual int64_t blocks() const { return 1; }

  // The largest value of a group's steps counts.
  virtual KernelPixels kernel_pixels() const { return {.tile = 8}; }

  // Tells whether the step can follow other steps on a tile: pixel i of the output depends only on
  // pixel i of the inputs, and on inputs that are read whole. The latter may be read anywhere, so
  // they are made before. A convolution always begins a group, whatever it adds, except for 1x1
  // convolutions of floats with no more channels than their input.
  virtual bool pixelwise() const { return false; }
  virtual bool reads_whole(size_t) const { return !pixelwise(); }

  // Tells whether a pixel of the output may overwrite the same pixel of an input that is not read
  // whole.
  virtual bool in_place() const { return false; }

  // `output` is the address of the range's first pixel, and so are `inputs` that are not read
  // whole. The other inputs are the addresses of whole tensors.
  virtual void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                   void* output) const = 0;

  // Throws OpError if data of the last run were at fault, such as an index that does not exist. Run
  // itself must not throw.
  virtual void CheckRun() const {}

  // Returns the bytes of memory for each concurrent Run, aligned to kBufferAlignment.
  virtual size_t scratch_bytes() const { return 0; }

  // Returns the name of the row that computes it, if there is a choice.
  virtual std::string kernel() const { return ""; }
};

// The kernels that compute steps.
struct StepKernels {
  std::string kernel;  // kAutoKernel, kReferenceKernel, or the name of a row
  const PixelOps& pixel_ops;
};

// `op` must live as long as the step.
std::unique_ptr<Step> MakeStep(const Op& op, const StepKernels& kernels);

std::unique_ptr<Step> MakeStep(const QuantizeOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const DequantizeOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const StepKernels& kernels);

// The operators that a convolution from bits to floats has absorbed (residual_sums.h). `sum` is
// always there.
struct ResidualOps {
  bool is_gated = false;
  const PreluOp* prelu = nullptr;
  const BinaryOp* sum = nullptr;
};
std::unique_ptr<Step> MakeStep(const Bconv2dOp& op, const ResidualOps& residual,
                               const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, const StepKernels& kernels);
// Makes a step that also multiplies by these factors (pooled_products.h): one, or one for each
// channel, or none.
std::unique_ptr<Step> MakeStep(const MaxPool2dOp& op, std::vector<float> factors,
                               const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const BinaryOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ClampOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PreluOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const UnaryOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const AveragePool2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const MeanOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const DenseOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SoftmaxOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const BytesToFloatsOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PadOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ReshapeOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ConcatenationOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SignedDenseOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8Conv2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8DenseOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8MeanOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8BinaryOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8PoolOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8SoftmaxOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PadBytesOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PadIntsOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const FloatsToBytesOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ByteTableOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Conv2dOp& op, const StepKernels& kernels);
// Makes a step of a convolution in groups, whose convolutions must all be alike (grouped_convs.h).
std::unique_ptr<Step> MakeStep(std::span<const Conv2dOp* const> groups, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SliceOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const FunctionOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ViewOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const JoinOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const PairOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const SelectOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ArgMaxOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const CastOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ReductionOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const BmatmulOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const TransposedConv2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const Int8TransposedConv2dOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const ResizeBilinearOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const BatchMatmulOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const GatherOp& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeStep(const LogSoftmaxOp& op, const StepKernels& kernels);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_H_
