// Convolutions in groups, as converters write them for TensorFlow Lite: SPLIT, a CONV_2D for each
// group, CONCATENATION. One step computes them all: it reads a group's channels where they are and
// writes to where they belong, so that nothing is copied.
#ifndef LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_
#define LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "larq_engine/runtime/cpu/step_list.h"

namespace larq_engine {

// The steps, by the operator that joins the groups: each is of the first convolution, and absorbs
// the others, what cuts the input, and what joins the outputs.
std::map<size_t, ListedStep> FindGroupedConvs(const Program& program, std::span<const size_t> ops,
                                              const std::vector<bool>& is_shared);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_GROUPED_CONVS_H_
