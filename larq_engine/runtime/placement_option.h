// Devices of single operators, as a user or a model's file names them.
#ifndef LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_
#define LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace larq_engine {

// Choice of the devices that compute.
enum class DeviceOption : uint8_t {
  kCpu,
  kAuto,  // the device expected to be fastest for each operator; the CPU if there is no other
  kAccelerator,  // a device for all that it can compute; an error if there is none
};

// A kind of device besides the CPU.
struct AcceleratorKind {
  std::string_view name;   // of the first such device in options; that of number N is "name:N"
  std::string_view title;  // in texts
};

// Returns all kinds. Accelerators (accelerators.h) has a row for each, in this order.
std::span<const AcceleratorKind> AcceleratorKinds();

// A node of one of the host's graphs. A model may have several graphs; number 0 is the main one.
struct GraphNode {
  int subgraph;
  int node;

  auto operator<=>(const GraphNode&) const = default;
  // Returns the node as placements spell it: "3", or "1/3" for a node of graph 1.
  std::string Text() const {
    return (subgraph == 0 ? "" : std::to_string(subgraph) + "/") + std::to_string(node);
  }
};

struct PartOption {
  std::optional<size_t> accelerator;  // its kind's index; empty: the CPU
  std::string kernel = {};            // name of a row; empty: the other options decide

  bool operator==(const PartOption&) const = default;
};

struct NodeOption {
  std::vector<PartOption> parts;  // none: the host's own operator; two: a layer that is cut
  int64_t channels = 0;           // output channels that the first of two parts computes

  bool operator==(const NodeOption&) const = default;
};

using PlacementOption = std::map<GraphNode, NodeOption>;

// Parses text such as "3:cpu,1/7:cuda,8:host,9:cpu:reference,12:cpu@64+cuda", or "none". `source`
// names the origin of the text, for error messages. `device` is the device of the other operators.
// Throws std::invalid_argument. If "fallback" is one of the items, items whose kernel or device
// does not exist are left out instead.
PlacementOption ParsePlacement(std::string_view text, const std::string& source,
                               DeviceOption device);

// Parses a whole number that is not negative; returns -1 for other text.
int ParseNumber(std::string_view text);

// Tells whether a kernel row for GPUs has this name.
bool IsRowForGpus(std::string_view name);

// Lists the rows for GPUs that the option `kernel` accepts.
std::string NamesOfGpuKernels(std::string_view separator);

// Returns `name` if it is a row that this CPU runs, kAutoKernel or kReferenceKernel, and throws
// std::invalid_argument otherwise. `source` names the origin of the name, for the message.
std::string ParseKernel(std::string_view name, const std::string& source);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLACEMENT_OPTION_H_
