// Whether a placement names nodes that there are.
#ifndef LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
#define LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_

#include <set>

#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace larq_engine {

// Throws std::invalid_argument if it places a node of the subgraph on a device that will not get
// it. `nodes` are those that the engine would take over with all of its devices, and
// `taken` those that it does. The host may have what is placed on its own memory's device.
void CheckPlacement(const Placement& placement, int subgraph, const std::set<int>& nodes,
                    const std::set<int>& taken);

// Throws std::invalid_argument if it names another graph than the model has. `context` is that of
// the main graph.
void CheckPlacedSubgraphs(const Placement& placement, TfLiteContext* context);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_PLACEMENT_CHECK_H_
