#include "larq_engine/runtime/ops/axes.h"

namespace larq_engine {

std::optional<size_t> AxisFromFront(int64_t axis, size_t rank) {
  const int64_t found = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  if (found < 0 || found >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<size_t>(found);
}

std::vector<int> ReducedDims(const std::vector<int>& dims, const std::vector<bool>& is_reduced,
                             bool keeps_dims) {
  std::vector<int> left;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!is_reduced[i] || keeps_dims) left.push_back(is_reduced[i] ? 1 : dims[i]);
  }
  return left;
}

}  // namespace larq_engine
