// Which nodes of a host's graph the plug-in takes over.
#ifndef LARQ_ENGINE_RUNTIME_CLAIM_H_
#define LARQ_ENGINE_RUNTIME_CLAIM_H_

#include <span>
#include <vector>

#include "larq_engine/runtime/op_node.h"

namespace larq_engine {

// The nodes, in the order in which they run, whose weights are unpacked into constants.
std::vector<int> FindWeights(std::span<const OpNode> nodes);

// The nodes of plans: ours, and with `fuse` of the host's operators those that read from a node of
// a plan, and those that LceQuantize or another of them reads.
//
// The same for a graph whose inputs were resized. tflite_runtime 2.14 asks again for it, while the
// shapes of some tensors are still the old ones, and refuses what changes hands between delegates.
std::vector<int> FindSteps(const TfLiteContext& context, std::span<const OpNode> nodes, bool fuse);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CLAIM_H_
