// Checks that the nodes that a placement names exist.
#ifndef LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
#define LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_

#include <set>

#include "larq_engine/runtime/plan/placement.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Nodes of one of the host's graphs.
struct PlaceableNodes {
  std::set<int> hosts;  // the host has operators of its own for them
  std::set<int> known;  // the engine would take them over with all of its devices
  std::set<int> taken;  // the engine takes them over
};

// Throws std::invalid_argument if the placement puts a node of the subgraph where it will not be
// computed. A node that is placed on the device in the host's memory may stay with the host.
void CheckPlacement(const Placement& placement, int subgraph, const PlaceableNodes& nodes);

// Throws std::invalid_argument if the placement names a graph that the model does not have.
// `context` is that of the main graph.
void CheckPlacedSubgraphs(const Placement& placement, TfLiteContext* context);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
