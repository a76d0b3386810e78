#include "larq_engine/runtime/host/placement_check.h"

#include <stdexcept>
#include <string>

namespace larq_engine {
namespace {

// Writes numbers as ranges, such as "0-4, 7".
std::string RangesOf(const std::set<int>& numbers) {
  std::string text;
  for (const int first : numbers) {
    if (numbers.contains(first - 1)) continue;
    int last = first;
    while (numbers.contains(last + 1)) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void CheckPlacement(const Placement& placement, int subgraph, const PlaceableNodes& nodes) {
  const auto end = placement.nodes.lower_bound({subgraph + 1, 0});
  for (auto at = placement.nodes.lower_bound({subgraph, 0}); at != end; ++at) {
    const auto& [placed, place] = *at;
    const bool is_left = place.parts.empty();
    const std::set<int>& known = is_left           ? nodes.hosts
                                 : place.IsOnCpu() ? nodes.known
                                                   : nodes.taken;
    if (known.contains(placed.node)) continue;
    throw std::invalid_argument(std::string("placement: expected nodes that the ") +
                                (is_left ? "host has operators for" : "engine takes over") +
                                ", of graph " + std::to_string(subgraph) +
                                " these: " + RangesOf(known) + "; got " + placed.Text() +
                                "; larq-engine inspect shows their numbers");
  }
}

void CheckPlacedSubgraphs(const Placement& placement, TfLiteContext* context) {
  int known = 0;
  for (const auto& [placed, place] : placement.nodes) {
    if (placed.subgraph == known) continue;
    TfLiteContext* found = nullptr;
    if (context->AcquireSubgraphContext(context, placed.subgraph, &found) != kTfLiteOk) {
      throw std::invalid_argument("placement: expected a graph of the model, got " + placed.Text() +
                                  ", and there is no graph " + std::to_string(placed.subgraph));
    }
    context->ReleaseSubgraphContext(context, placed.subgraph);
    known = placed.subgraph;
  }
}

}  // namespace larq_engine
