// A plan as the kernel of one of the host's nodes.
#ifndef LARQ_ENGINE_RUNTIME_HOST_PLAN_NODE_H_
#define LARQ_ENGINE_RUNTIME_HOST_PLAN_NODE_H_

#include <memory>
#include <set>
#include <vector>

#include "larq_engine/runtime/host/host_graph.h"
#include "larq_engine/runtime/plan/plan.h"

namespace larq_engine {

class PlanNode {
 public:
  // `subgraph` is the graph of the nodes, -1 if the host does not tell it. `host_outputs` are the
  // tensors that others read, which therefore live in the host's memory.
  PlanNode(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph,
           std::vector<HostNode> nodes, std::set<int> host_outputs)
      : plan_(std::move(engine), std::move(placement), subgraph),
        nodes_(std::move(nodes)),
        host_outputs_(std::move(host_outputs)) {}

  // Both throw OpError.
  void Prepare(TfLiteContext* context);
  void Invoke(TfLiteContext* context);

 private:
  Program ReadProgram(const TfLiteContext& context) const;

  Plan plan_;
  std::vector<HostNode> nodes_;
  std::set<int> host_outputs_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_PLAN_NODE_H_
