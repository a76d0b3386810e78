// What a user may set, as the strings that the external-delegate interface carries.
#ifndef LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
#define LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "larq_engine/kernels/select.h"

namespace larq_engine {

inline constexpr int kMaxThreads = 256;

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

struct EngineOptions {
  int num_threads = 0;  // at most; 0: the host's own number
  std::string kernel;   // kAutoKernel, kReferenceKernel or the name of a row that this CPU runs
  bool fuse = true;     // with the host's operators between ours; the results are the same
  DeviceOption device = DeviceOption::kCpu;
  int cuda_ordinal = 0;
  std::string cuda_kernel = std::string(kAutoKernel);  // or the name of a row for GPUs
  std::map<GraphNode, bool> on_cuda = {};              // of nodes that the placement names
};

// A value for on or off, in any spelling and case; none for other text.
std::optional<bool> ParseSwitch(std::string_view value);
inline constexpr const char* kSwitchValues = "on or off (true or false, 1 or 0)";

// Throws std::invalid_argument that names the valid options or values. Environment variables stand
// in where an option is not given.
EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count);

// The rows that `kernel` takes for GPUs.
std::string NamesOfGpuKernels(std::string_view separator);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
