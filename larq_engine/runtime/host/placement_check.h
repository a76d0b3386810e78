// Whether a placement names nodes that there are.
#ifndef LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
#define LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_

#include <set>

#include "larq_engine/runtime/plan/placement.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Nodes of a graph of the host's.
struct PlaceableNodes {
  std::set<int> hosts;  // that the host has operators of its own for
  std::set<int> known;  // that the engine would take over with all of its devices
  std::set<int> taken;  // that it takes over
};

// Throws std::invalid_argument if it places a node of the subgraph where it will not be. The host
// may have what is placed on its own memory's device.
void CheckPlacement(const Placement& placement, int subgraph, const PlaceableNodes& nodes);

// Throws std::invalid_argument if it names another graph than the model has. `context` is that of
// the main graph.
void CheckPlacedSubgraphs(const Placement& placement, TfLiteContext* context);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
