// The host's own operators that a plan computes where they lie next to ours, so that a layer's
// output is still in the cache when it is added to a shortcut, pooled or turned into bits.
#ifndef LARQ_ENGINE_RUNTIME_HOST_OPS_H_
#define LARQ_ENGINE_RUNTIME_HOST_OPS_H_

#include "larq_engine/runtime/step.h"

namespace larq_engine {

struct HostOp {
  const char* name;  // as TensorFlow Lite's tools print it
  bool needs_options;
  HostOptions (*read_options)(const void* builtin_data);
  bool (*can_fuse)(const OpInfo& op);
  std::unique_ptr<Step> (*make)(const OpInfo& op, const StepKernels& kernels);
};

// Null for operators that stay with the host.
const HostOp* FindHostOp(int32_t builtin_code);
const HostOp* FindHostOp(std::string_view name);

// What an activation clamps to.
FloatRange ActivationRange(TfLiteFusedActivation activation);

// The values of a constant that is one value or a vector along the last dimension; none of others.
std::vector<float> ReadChannelConstant(const TensorInfo& tensor);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_OPS_H_
