// Axes as files number them, from the front or, if negative, from the end; and what is left of a
// shape whose axes are reduced.
#ifndef LARQ_ENGINE_RUNTIME_OPS_AXES_H_
#define LARQ_ENGINE_RUNTIME_OPS_AXES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace larq_engine {

// Returns the axis counted from the front; nothing if a tensor of this rank does not have it.
std::optional<size_t> AxisFromFront(int64_t axis, size_t rank);

// Leaves out the dimensions that are reduced or, with `keeps_dims`, makes them 1.
std::vector<int> ReducedDims(const std::vector<int>& dims, const std::vector<bool>& is_reduced,
                             bool keeps_dims);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_AXES_H_
