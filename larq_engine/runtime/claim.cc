#include "larq_engine/runtime/claim.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "larq_engine/runtime/host_ops.h"
#include "larq_engine/runtime/op_error.h"

namespace larq_engine {
namespace {

bool Is(const OpNode& node, std::string_view op) { return node.op != nullptr && node.op == op; }

bool IsOurs(const OpNode& node) { return FindHostOp(node.op) == nullptr; }

bool CanFuse(const TfLiteContext& context, const OpNode& node) {
  try {
    return FindHostOp(node.op)->can_fuse(DescribeOp(context, node));
  } catch (const OpError&) {
    return false;  // something that only the host may know what to do with
  }
}

// Whether the node's results depend on nothing but constants and tensors that are `fixed`.
bool IsFixed(const TfLiteContext& context, const OpNode& node, const std::set<int>& fixed) {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](int tensor) {
    return tensor == kTfLiteOptionalTensor || fixed.contains(tensor) ||
           (static_cast<size_t>(tensor) < context.tensors_size &&
            context.tensors[tensor].allocation_type == kTfLiteMmapRo);
  });
}

bool ReadsAnyOf(const OpNode& node, const std::set<int>& tensors) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int tensor) { return tensors.contains(tensor); });
}

// Nodes by number, and those that are still to be looked at from each tensor.
class Search {
 public:
  explicit Search(std::span<const OpNode> nodes) : nodes_(nodes), taken_(nodes.size()) {}

  void Take(size_t i) {
    if (taken_[i]) return;
    taken_[i] = true;
    queue_.push_back(i);
  }

  // To be taken if a neighbour is.
  void AddCandidate(size_t i) {
    for (int tensor : nodes_[i].inputs) readers_[tensor].push_back(i);
    makers_[nodes_[i].outputs[0]].push_back(i);
  }

  // All that are taken, then. Every tensor is followed once in each direction.
  std::vector<int> Finish() {
    while (!queue_.empty()) {
      const OpNode& node = nodes_[queue_.back()];
      queue_.pop_back();
      for (int tensor : node.outputs) TakeAll(readers_, tensor);
      if (IsOurs(node) && !Is(node, "LceQuantize")) continue;
      for (int tensor : node.inputs) TakeAll(makers_, tensor);
    }
    std::vector<int> found;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (taken_[i]) found.push_back(nodes_[i].index);
    }
    return found;
  }

 private:
  using Neighbours = std::map<int, std::vector<size_t>>;  // of tensors

  void TakeAll(Neighbours& neighbours, int tensor) {
    const auto found = neighbours.find(tensor);
    if (found == neighbours.end()) return;
    for (size_t i : found->second) Take(i);
    neighbours.erase(found);
  }

  std::span<const OpNode> nodes_;
  std::vector<bool> taken_;
  std::vector<size_t> queue_;
  Neighbours readers_;
  Neighbours makers_;
};

}  // namespace

std::vector<int> FindWeights(std::span<const OpNode> nodes) {
  std::vector<int> weights;
  for (const OpNode& node : nodes) {
    if (Is(node, kUnpackWeights)) weights.push_back(node.index);
  }
  return weights;
}

std::vector<int> FindSteps(const TfLiteContext& context, std::span<const OpNode> nodes, bool fuse) {
  Search search(nodes);
  // Computed from constants alone, such as unpacked weights. They do not grow with the batch, or
  // are constants by the time that steps are made: what reads them stays with the host.
  std::set<int> fixed;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const OpNode& node = nodes[i];
    if (IsFixed(context, node, fixed)) fixed.insert(node.outputs.begin(), node.outputs.end());
    if (node.op == nullptr || Is(node, kUnpackWeights)) continue;
    if (IsOurs(node)) {
      search.Take(i);
    } else if (fuse && CanFuse(context, node) && !ReadsAnyOf(node, fixed)) {
      search.AddCandidate(i);
    }
  }
  return search.Finish();
}

}  // namespace larq_engine
