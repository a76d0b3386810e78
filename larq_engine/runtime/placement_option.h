// Where single operators are computed, as a user or a model's file says it.
#ifndef LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_
#define LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace larq_engine {

// Which devices compute.
enum class DeviceOption : uint8_t {
  kCpu,
  kAuto,  // each operator where it is expected to take least, where there is a GPU
  kCuda,  // a GPU for all that it can compute; an error without one
};

// A node of one of the host's graphs, of which models may have several: 0 is the main one.
struct GraphNode {
  int subgraph;
  int node;

  auto operator<=>(const GraphNode&) const = default;
  // As placements have it: "3", or "1/3" in another graph than the main one.
  std::string Text() const {
    return (subgraph == 0 ? "" : std::to_string(subgraph) + "/") + std::to_string(node);
  }
};

struct PartOption {
  bool on_cuda;
  std::string kernel = {};  // the name of a row; empty: as the other options say

  bool operator==(const PartOption&) const = default;
};

struct NodeOption {
  std::vector<PartOption> parts;  // none: the host's own operator; two: a layer that is cut
  int64_t channels = 0;           // of the output: how many of them the first of two parts makes

  bool operator==(const NodeOption&) const = default;
};

using PlacementOption = std::map<GraphNode, NodeOption>;

// Such as "3:cpu,1/7:cuda,8:host,9:cpu:reference,12:cpu@64+cuda", or "none". `source` is where it
// comes from, for the message. `device` is where the other operators are. Throws
// std::invalid_argument; where "fallback" is one of the items, what needs a kernel or a device that
// is not there is left out instead.
PlacementOption ParsePlacement(std::string_view text, const std::string& source,
                               DeviceOption device);

// A whole number from 0 on; -1 of other text.
int ParseNumber(std::string_view text);

// Whether a row for GPUs has the name.
bool IsRowForGpus(std::string_view name);

// The rows that `kernel` takes for GPUs.
std::string NamesOfGpuKernels(std::string_view separator);

// Throws std::invalid_argument unless it names a row that this CPU runs, or how one is chosen.
// `source` is where the name comes from, for the message.
std::string ParseKernel(std::string_view name, const std::string& source);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_
