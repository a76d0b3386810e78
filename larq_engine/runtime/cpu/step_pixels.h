// Counts the pixels of a tensor: all dimensions but the last.
#ifndef LARQ_ENGINE_RUNTIME_CPU_STEP_PIXELS_H_
#define LARQ_ENGINE_RUNTIME_CPU_STEP_PIXELS_H_

#include "larq_engine/runtime/ops/tensor_info.h"

namespace larq_engine {

// Returns 0 if there are no channels, because pixels without channels are no work.
inline int64_t CountPixels(const std::vector<int>& dims) {
  const int64_t values = CountElements(dims, dims.size());
  return values == 0 || dims.empty() ? values : values / dims.back();
}

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_PIXELS_H_
