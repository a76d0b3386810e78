// Chooses which nodes of a host's graph the plug-in takes over. All functions are pure.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "larq_engine/runtime/host/host_graph.h"

namespace larq_engine {

// Returns the nodes, in the order in which they run, whose weights are unpacked into constants.
std::vector<int> FindWeights(const HostGraph& graph);

// A decision about a node of the host's before its neighbours are looked at.
enum class NodeWish : uint8_t {
  kNone,
  kTake,      // takes it, whatever its neighbours are
  kTakeHere,  // takes it, for the device in the host's memory
  kLeave,     // leaves it to the host
};

// Returns the nodes of plans: our nodes, and the host's nodes that `wish_for` takes. With `fuse`,
// also the host's nodes that read from a node of a plan or that a node of a plan reads from; for
// some operators (KnownOp::must_be_read) only the latter. With `for_others`, also nodes that only
// devices with their own memory compute.
//
// The result is the same for a graph whose inputs were resized. tflite_runtime 2.14 asks again for
// it while some tensors still have their old shapes, and refuses nodes that change hands between
// delegates.
std::vector<int> FindPlanNodes(const HostGraph& graph, bool fuse, bool for_others,
                               const std::function<NodeWish(const HostNode&)>& wish_for);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
