#include "larq_engine/runtime/model/model_placement.h"

#include <stdexcept>
#include <string>
#include <string_view>

#include "larq_engine/runtime/executors.h"

namespace larq_engine {
namespace {

std::string_view FindText(const ModelFile& file) {
  for (const FileName& entry : file.metadata) {
    if (entry.text != "larq_engine.placement") continue;
    const std::span<const uint8_t> data = file.buffers[entry.index];
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }
  return {};
}

// A graph that does not run may leave nodes with a host.
void CheckNodes(const ModelFile& file, size_t running, const Placement& placement) {
  for (const auto& [node, place] : placement.nodes) {
    const auto graph = static_cast<size_t>(node.subgraph);
    if (graph >= file.graphs.size() ||
        static_cast<size_t>(node.node) >= file.graphs[graph].operators.size()) {
      throw std::invalid_argument("placement: expected nodes of the model, got node " +
                                  node.Text() + "; profile the model to see its nodes");
    }
    if (graph == running && place.parts.empty()) {
      throw std::invalid_argument(
          "placement: expected a device for node " + node.Text() +
          ", got 'host', and no host runs the model; run it in one, or set placement to none");
    }
  }
}

}  // namespace

std::shared_ptr<const Placement> FindPlacement(const ModelFile& file, size_t graph,
                                               const EngineOptions& options, const Engine& engine) {
  std::shared_ptr<const Placement> found = engine.placement();
  const std::string_view text = FindText(file);
  if (!options.placement && !text.empty()) {
    found = std::make_shared<const Placement>(
        MakePlacement(ParsePlacement(text, "the model's placement", options.device), options.device,
                      engine.executors()));
  }
  CheckNodes(file, graph, *found);
  return found;
}

}  // namespace larq_engine
