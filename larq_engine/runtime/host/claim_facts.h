// Reads the facts that decide about claims from the host's graph, the devices and the placement.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_FACTS_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_FACTS_H_

#include "larq_engine/runtime/host/claim.h"
#include "larq_engine/runtime/host/host_graph.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {

// The graph has the number `subgraph` in the model, -1 if the host does not tell it.
ClaimGraph ReadClaimFacts(const TfLiteContext& context, const HostGraph& graph,
                          const Engine& engine, const Placement& placement, int subgraph);

// Returns the facts as they would be with a GPU that takes every operator that a placement may
// name: those whose form we compute, on any device.
ClaimGraph WithAllPlaceable(ClaimGraph graph);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_FACTS_H_
