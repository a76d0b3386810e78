#include "larq_engine/runtime/cpu/broadcast_lines.h"

#include <algorithm>

namespace larq_engine {

BroadcastLines::BroadcastLines(std::span<const std::vector<int>> operands,
                               const std::vector<int>& result) {
  std::vector<Axis> axes;  // innermost first
  Strides next;            // stride of each operand's next dimension
  next.fill(1);
  for (size_t from_last = 0; from_last < result.size(); ++from_last) {
    Axis axis{.size = result[result.size() - 1 - from_last], .strides = {}};
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<int>& dims = operands[i];
      const int own = from_last < dims.size() ? dims[dims.size() - 1 - from_last] : 1;
      axis.strides[i] = own == 1 ? 0 : next[i];
      next[i] *= own;
    }
    if (axis.size == 1) continue;
    const auto continues = [&](const Axis& inner) {
      return std::equal(
          axis.strides.begin(), axis.strides.end(), inner.strides.begin(),
          [&](int64_t outer, int64_t stride) { return outer == stride * inner.size; });
    };
    if (!axes.empty() && continues(axes.back())) {
      axes.back().size *= axis.size;
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) return;
  steps_ = axes[0].strides;
  values_ = axes[0].size;
  outer_.assign(axes.begin() + 1, axes.end());
  for (const Axis& axis : outer_) lines_ *= axis.size;
}

}  // namespace larq_engine
