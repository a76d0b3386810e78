#include "larq_engine/runtime/cpu/step.h"

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {

std::unique_ptr<Step> MakeStep(const Op& op, const StepKernels& kernels) {
  if (IsForGpusOnly(op)) throw OpError(kHostComputesIt);
  return std::visit(
      [&]<typename T>(const T& value) -> std::unique_ptr<Step> {
        if constexpr (kIsForGpusOnly<T>) {
          return nullptr;  // refused above
        } else {
          return MakeStep(value, kernels);
        }
      },
      op);
}

}  // namespace larq_engine
