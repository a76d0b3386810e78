// Which nodes of a host's graph the plug-in takes over: pure functions.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "larq_engine/runtime/host/host_graph.h"

namespace larq_engine {

// The nodes, in the order in which they run, whose weights are unpacked into constants.
std::vector<int> FindWeights(const HostGraph& graph);

// What is asked for a node of the host's.
enum class NodeWish : uint8_t {
  kNone,
  kTake,      // whatever its neighbours are
  kTakeHere,  // the same, by the device in the host's memory
  kLeave,     // to the host
};

// The nodes of plans: ours, those of the host's operators that are wished for, and with `fuse`
// those that read from a node of a plan, and those that a node of a plan reads from; of some only
// the latter (KnownOp::must_be_read). `for_others`: also those that only devices with their own
// memory compute.
//
// The same for a graph whose inputs were resized. tflite_runtime 2.14 asks again for it, while the
// shapes of some tensors are still the old ones, and refuses what changes hands between delegates.
std::vector<int> FindPlanNodes(const HostGraph& graph, bool fuse, bool for_others,
                               const std::function<NodeWish(const HostNode&)>& wish_for);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
