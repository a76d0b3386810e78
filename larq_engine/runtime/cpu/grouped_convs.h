// Convolutions in groups. In TensorFlow Lite's files they are a SPLIT, a CONV_2D for each group,
// and a CONCATENATION. One step computes all of these: it reads a group's channels in place and
// writes to their final place, so nothing is copied.
#ifndef LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_
#define LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "larq_engine/runtime/cpu/step_list.h"

namespace larq_engine {

// Returns the steps, indexed by the operator that joins the groups. Each step is of the first
// convolution. It absorbs the other convolutions, the operators that cut the input, and the one
// that joins the outputs.
std::map<size_t, ListedStep> FindGroupedConvs(const Program& program, std::span<const size_t> ops,
                                              const std::vector<bool>& is_shared);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_
