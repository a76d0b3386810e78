#include "larq_engine/runtime/cpu/step.h"

namespace larq_engine {

std::unique_ptr<Step> MakeStep(const Op& op, const StepKernels& kernels) {
  return std::visit([&](const auto& value) { return MakeStep(value, kernels); }, op);
}

}  // namespace larq_engine
