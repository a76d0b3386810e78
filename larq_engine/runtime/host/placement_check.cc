#include "larq_engine/runtime/host/placement_check.h"

#include <stdexcept>
#include <string>

namespace larq_engine {
namespace {

// Such as "0-4, 7".
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

void CheckPlacement(const Placement& placement, int subgraph, const std::set<int>& nodes,
                    const std::set<int>& taken) {
  for (const auto& [placed, device] : placement.device_of_node) {
    if (placed.subgraph != subgraph) continue;
    const std::set<int>& known = device == 0 ? nodes : taken;
    if (known.contains(placed.node)) continue;
    throw std::invalid_argument(
        "option placement: expected nodes that the engine takes over, of graph " +
        std::to_string(subgraph) + " these: " + RangesOf(known) + "; got " + placed.Text() +
        "; larq-engine inspect shows their numbers");
  }
}

void CheckPlacedSubgraphs(const Placement& placement, TfLiteContext* context) {
  int known = 0;
  for (const auto& [placed, device] : placement.device_of_node) {
    if (placed.subgraph == known) continue;
    TfLiteContext* found = nullptr;
    if (context->AcquireSubgraphContext(context, placed.subgraph, &found) != kTfLiteOk) {
      throw std::invalid_argument("option placement: expected a graph of the model, got " +
                                  placed.Text() + ", and there is no graph " +
                                  std::to_string(placed.subgraph));
    }
    context->ReleaseSubgraphContext(context, placed.subgraph);
    known = placed.subgraph;
  }
}

}  // namespace larq_engine
