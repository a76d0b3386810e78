// Decisions about operators that their costs do not make.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLACEMENT_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLACEMENT_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "larq_engine/runtime/placement_option.h"
#include "larq_engine/runtime/plan/devices.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct NodePlacement {
  std::vector<OpPlacement> parts;  // none: the host computes the node; two: a layer that is cut
  int64_t channels = 0;            // output channels that the first of two parts computes

  // Tells whether the CPU computes all parts.
  bool IsOnCpu() const {
    return std::all_of(parts.begin(), parts.end(),
                       [](const OpPlacement& part) { return part.device == kCpuDevice; });
  }
};

struct Placement {
  bool by_cost = true;  // else the device beside the CPU computes all that it can
  std::map<GraphNode, NodePlacement> nodes = {};

  // Returns null if the placement does not name the node.
  const NodePlacement* Find(const GraphNode& node) const {
    const auto found = nodes.find(node);
    return found == nodes.end() ? nullptr : &found->second;
  }
};

// Cuts layers and tells operators their devices and kernels. `subgraph` is the graph that the
// operators' nodes are in. Throws OpError, whose text names the operator.
void PlaceOps(const Placement& placement, int subgraph, Program& program);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLACEMENT_H_
