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

#include "larq_engine/runtime/tensor_info.h"

namespace larq_engine {

struct TensorShape {
  std::vector<int> dims;
  int64_t channels = 0;  // that a tensor of bits holds in its last dimension; 0 where not known
};

class Step {
 public:
  virtual ~Step() = default;

  // Sizes the step for the shape of its data input and returns the shape of its output. Throws
  // OpError. Called again whenever that shape changes.
  virtual TensorShape Resize(const TensorShape& input) = 0;

  // The work of one run, in units that can be computed in any order and at the same time.
  virtual int64_t units() const = 0;
  virtual void Run(const void* input, int64_t first, int64_t last, std::byte* scratch,
                   void* output) const = 0;

  // Memory for each concurrent Run, aligned to kBufferAlignment.
  virtual size_t scratch_bytes() const { return 0; }

  virtual std::string kernel() const {
    return "";
  }                                           // which row computes it, where there is a choice
  virtual int64_t macs() const { return 0; }  // +-1 products of one run
};

// An operator as the file has it: tensors in its own order, the first input being the data.
struct OpInfo {
  std::vector<TensorInfo> inputs;
  TensorInfo output;
  std::span<const uint8_t> options = {};
};

// Each checks everything the file says of the operator and throws OpError.
std::unique_ptr<Step> MakeQuantizeStep(const OpInfo& op);
std::unique_ptr<Step> MakeDequantizeStep(const OpInfo& op);
std::unique_ptr<Step> MakeBconv2dStep(const OpInfo& op, std::string_view kernel);
std::unique_ptr<Step> MakeBMaxPool2dStep(const OpInfo& op);

// Weights that are unpacked when the host hands over the graph, and are no step: see
// unpacked_weights.h.
inline constexpr const char* kUnpackWeights = "LceUnpackWeights";

// The step for the custom operator `name`, or null when it is not one of ours or no step.
std::unique_ptr<Step> MakeStep(std::string_view name, const OpInfo& op, std::string_view kernel);

// The names of the custom operators that are ours; they last as long as the library.
inline constexpr size_t kOpNameCount = 6;
std::span<const char* const, kOpNameCount> OpNames();

// Our own, lasting spelling of a custom operator's name, or null when it is not one of ours.
const char* FindOpName(std::string_view name);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_STEP_H_
