#include "larq_engine/runtime/host/claim.h"

#include <algorithm>
#include <map>
#include <set>

namespace larq_engine {
namespace {

// Tells whether the node's results depend only on constants and on tensors in `fixed`.
bool IsFixed(const HostGraph& graph, const HostNode& node, const std::set<int>& fixed) {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](int tensor) {
    return tensor == kTfLiteOptionalTensor || fixed.contains(tensor) ||
           (static_cast<size_t>(tensor) < graph.is_constant.size() &&
            graph.is_constant[static_cast<size_t>(tensor)]);
  });
}

// Tells whether an input is in `fixed`. Weights that a plan unpacks, or reads unpacked, do not
// count.
bool ReadsFixed(const HostNode& node, const std::set<int>& fixed) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool are_weights = i == 1 && node.weights != nullptr;
    if (!are_weights && fixed.contains(node.inputs[i])) return true;
  }
  return false;
}

// Finds the nodes to take, starting from some and following the tensors between nodes.
class Search {
 public:
  explicit Search(std::span<const HostNode> nodes) : nodes_(nodes), taken_(nodes.size()) {}

  void Take(size_t i) {
    if (taken_[i]) return;
    taken_[i] = true;
    queue_.push_back(i);
  }

  // Adds a node to take if a node that reads its result is taken or, without `must_be_read`, any
  // neighbour.
  void AddCandidate(size_t i, bool must_be_read) {
    if (!must_be_read) {
      for (int tensor : nodes_[i].inputs) readers_[tensor].push_back(i);
    }
    for (int tensor : nodes_[i].outputs) makers_[tensor].push_back(i);
  }

  // Returns all nodes that are taken. Every tensor is followed once in each direction.
  std::vector<int> Finish() {
    while (!queue_.empty()) {
      const HostNode& node = nodes_[queue_.back()];
      queue_.pop_back();
      for (int tensor : node.outputs) TakeAll(readers_, tensor);
      for (int tensor : node.inputs) TakeAll(makers_, tensor);
    }
    std::vector<int> found;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (taken_[i]) found.push_back(nodes_[i].index);
    }
    return found;
  }

 private:
  using Neighbours = std::map<int, std::vector<size_t>>;  // for each tensor

  void TakeAll(Neighbours& neighbours, int tensor) {
    const auto found = neighbours.find(tensor);
    if (found == neighbours.end()) return;
    for (size_t i : found->second) Take(i);
    neighbours.erase(found);
  }

  std::span<const HostNode> nodes_;
  std::vector<bool> taken_;
  std::vector<size_t> queue_;
  Neighbours readers_;
  Neighbours makers_;
};

}  // namespace

std::vector<int> FindWeights(const HostGraph& graph) {
  std::vector<int> weights;
  for (const HostNode& node : graph.nodes) {
    if (node.op != nullptr && node.op->is_weights()) weights.push_back(node.index);
  }
  return weights;
}

std::vector<int> FindPlanNodes(const HostGraph& graph, bool fuse, bool for_others,
                               const std::function<NodeWish(const HostNode&)>& wish_for) {
  Search search(graph.nodes);
  // Tensors that are computed from constants only, such as unpacked weights. They do not grow with
  // the batch, or are constants by the time that plans are made. Most operators that read them stay
  // with the host.
  std::set<int> fixed;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const HostNode& node = graph.nodes[i];
    if (IsFixed(graph, node, fixed)) fixed.insert(node.outputs.begin(), node.outputs.end());
    if (node.op == nullptr || node.op->is_weights()) continue;
    if (node.op->is_ours()) {
      search.Take(i);
      continue;
    }
    if (!graph.can_be_fused[i]) continue;
    const NodeWish wish = wish_for(node);
    if (!ReadsFixed(node, fixed) && wish != NodeWish::kLeave &&
        (!graph.is_for_other_devices[i] || (for_others && wish != NodeWish::kTakeHere))) {
      if (fuse) search.AddCandidate(i, node.op->must_be_read && !for_others);
      if (wish != NodeWish::kNone) search.Take(i);
    }
  }
  return search.Finish();
}

}  // namespace larq_engine
