// Which nodes of a host's graph the plug-in takes over: pure functions.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_

#include <functional>
#include <vector>

#include "larq_engine/runtime/host/host_graph.h"

namespace larq_engine {

// The nodes, in the order in which they run, whose weights are unpacked into constants.
std::vector<int> FindWeights(const HostGraph& graph);

// The nodes of plans: ours, those of the host's operators that `is_placed` of their number, and
// with `fuse` those that read from a node of a plan, and those that a node of a plan reads from.
// Those for other devices only where `may_leave_host` of their number.
//
// The same for a graph whose inputs were resized. tflite_runtime 2.14 asks again for it, while the
// shapes of some tensors are still the old ones, and refuses what changes hands between delegates.
std::vector<int> FindPlanNodes(const HostGraph& graph, bool fuse,
                               const std::function<bool(int node)>& is_placed,
                               const std::function<bool(int node)>& may_leave_host);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
