// A step of a plan: one operator, checked once, sized for its input, then run as often as wanted.
#ifndef LARQ_ENGINE_RUNTIME_STEP_H_
#define LARQ_ENGINE_RUNTIME_STEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "larq_engine/kernels/pixel_ops.h"
#include "larq_engine/runtime/quantize_limits.h"
#include "larq_engine/runtime/tensor_info.h"

namespace larq_engine {

// A step reads no more tensors of data; concatenations of more are left to the host.
inline constexpr size_t kMaxDataInputs = 8;

struct TensorShape {
  std::vector<int> dims;
  int64_t channels = 0;  // that a tensor of bits holds in its last dimension; 0 where not known
};

// The work of a step is cut along the pixels of its output (all dimensions but the last), and,
// where pixels are few, along blocks of its channels. Parts can be computed in any order and at the
// same time.
struct StepRange {
  int64_t first_pixel;
  int64_t last_pixel;
  int64_t first_block;
  int64_t last_block;
};

class Step {
 public:
  virtual ~Step() = default;

  // Which of the operator's inputs are data, rather than constants that the step has taken.
  virtual std::vector<size_t> data_inputs() const { return {0}; }

  // Sizes the step for the shapes of its data inputs and returns the shape of its output. Throws
  // OpError. Called again whenever those shapes change.
  virtual TensorShape Resize(std::span<const TensorShape> inputs) = 0;

  virtual int64_t pixels() const = 0;
  virtual int64_t channel_blocks() const { return 1; }

  // The pixels that are computed at once: fewer would waste a part of the kernel. Steps without a
  // kernel go by the largest that there is.
  virtual int64_t kernel_rows() const { return 8; }

  // Whether pixel i of the output is made of pixel i of the inputs and nothing else.
  virtual bool pixelwise() const { return false; }

  // Whether a pixel of the output may be written over the same pixel of an input.
  virtual bool in_place() const { return false; }

  // `output` is where the range's first pixel belongs, and so are `inputs` if the step is
  // pixelwise; otherwise they are where the tensors begin.
  virtual void Run(std::span<const void* const> inputs, const StepRange& range, std::byte* scratch,
                   void* output) const = 0;

  // Memory for each concurrent Run, aligned to kBufferAlignment.
  virtual size_t scratch_bytes() const { return 0; }

  // What the step is, if it is no more than that; lives as long as the step.
  virtual const ChannelOp* channel_op() const { return nullptr; }

  // Whether Absorb is worth a call: it makes the step compute on its input what `chain`, the steps
  // that it follows, would have made of it, with the same result to the bit, and returns whether it
  // can.
  virtual bool can_absorb() const { return false; }
  virtual bool Absorb(std::span<const ChannelOp* const> /*chain*/) { return false; }

  // Which row computes it, where there is a choice.
  virtual std::string kernel() const { return ""; }

  virtual int64_t macs() const { return 0; }  // +-1 products of one run
};

// What the file says of an operator of the host that we fuse; see host_ops.h.
struct HostOptions {
  TfLiteFusedActivation activation = kTfLiteActNone;
  int axis = 0;                // concatenation
  TfLitePoolParams pool = {};  // max pooling
};

// An operator as the file has it: tensors in its own order, the first input being the data.
struct OpInfo {
  std::vector<TensorInfo> inputs;
  TensorInfo output;
  std::span<const uint8_t> options = {};
  HostOptions host_options = {};
};

// What computes the steps of a plan.
struct StepKernels {
  std::string kernel;  // "auto", "reference", or the name of a row
  const PixelOps& pixel_ops;
};

// Each checks everything the file says of the operator and throws OpError.
std::unique_ptr<Step> MakeQuantizeStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeDequantizeStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeBconv2dStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeBMaxPool2dStep(const OpInfo& op, const StepKernels& kernels);

// Of operators of the host that CanFuse has found fit.
std::unique_ptr<Step> MakeAddStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeMultiplyStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeReluStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakePreluStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeMaxPool2dStep(const OpInfo& op, const StepKernels& kernels);
std::unique_ptr<Step> MakeConcatenationStep(const OpInfo& op, const StepKernels& kernels);

// Weights that are unpacked when the host hands over the graph, and are no step: see
// unpacked_weights.h.
inline constexpr const char* kUnpackWeights = "LceUnpackWeights";

// The step for the operator `name`, or null when it is not one of ours or no step.
std::unique_ptr<Step> MakeStep(std::string_view name, const OpInfo& op, const StepKernels& kernels);

// The names of the custom operators that are ours; they last as long as the library.
inline constexpr size_t kOpNameCount = 6;
std::span<const char* const, kOpNameCount> OpNames();

// Our own, lasting spelling of a custom operator's name, or null when it is not one of ours.
const char* FindOpName(std::string_view name);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_STEP_H_
