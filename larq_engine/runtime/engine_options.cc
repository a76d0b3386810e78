#include "larq_engine/runtime/engine_options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"

namespace larq_engine {
namespace {

constexpr const char* kKernelVariable = "LARQ_ENGINE_KERNEL";
constexpr const char* kDeviceVariable = "LARQ_ENGINE_DEVICE";

// Null unless it says something.
const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == 0 ? nullptr : value;
}

// -1 for what is no number from 0 on.
int ParseNumber(std::string_view text) {
  int number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end && number >= 0 ? number : -1;
}

int ParseThreads(std::string_view value) {
  const int threads = ParseNumber(value);
  if (threads < 1 || threads > kMaxThreads) {
    throw std::invalid_argument("option num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                                ", got '" + std::string(value) + "'");
  }
  return threads;
}

constexpr const char* kDeviceValues = "cpu, auto, cuda, or cuda:N for GPU N";

// `source` is where the value comes from, for the message.
void ParseDevice(std::string_view value, const std::string& source, EngineOptions& options) {
  constexpr std::string_view kOneOfSeveral = "cuda:";
  options.device = DeviceOption::kCuda;
  if (value == "cpu") {
    options.device = DeviceOption::kCpu;
  } else if (value == "auto") {
    options.device = DeviceOption::kAuto;
  } else if (value.starts_with(kOneOfSeveral)) {
    options.cuda_ordinal = ParseNumber(value.substr(kOneOfSeveral.size()));
  } else if (value != "cuda") {
    options.cuda_ordinal = -1;
  }
  if (options.cuda_ordinal < 0) {
    throw std::invalid_argument(source + ": expected " + kDeviceValues + ", got '" +
                                std::string(value) + "'");
  }
}

// Such as "3", or "1/3"; below 0 of other text.
GraphNode ParseNode(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return {0, ParseNumber(text)};
  const int subgraph = ParseNumber(text.substr(0, slash));
  return {subgraph, subgraph < 0 ? -1 : ParseNumber(text.substr(slash + 1))};
}

// Such as "3:cpu,1/7:cuda".
std::map<GraphNode, bool> ParsePlacement(std::string_view value) {
  std::map<GraphNode, bool> on_cuda;
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const std::string_view name = item.substr(0, item.find(':'));
    const std::string_view device = item.substr(std::min(item.size(), name.size() + 1));
    const GraphNode node = ParseNode(name);
    if (node.node < 0 || (device != "cpu" && device != "cuda")) {
      throw std::invalid_argument(
          "option placement: expected pairs of a node's number (see the profile) and cpu or cuda, "
          "such as 3:cpu,7:cuda, got '" +
          std::string(item) + "'");
    }
    if (!on_cuda.try_emplace(node, device == "cuda").second) {
      throw std::invalid_argument("option placement: node " + node.Text() + " stands in it twice");
    }
  }
  return on_cuda;
}

bool IsRowForGpus(std::string_view name) {
  const std::span<const cuda::Bconv2dRow> rows = cuda::Bconv2dRows();
  return std::any_of(rows.begin(), rows.end(), [&](const cuda::Bconv2dRow& row) {
    return cuda::RowOf(row.kernel).name == name;
  });
}

// `source` is where the name comes from, for the message.
std::string ParseKernel(std::string_view value, const std::string& source) {
  if (value == kAutoKernel || value == kReferenceKernel) return std::string(value);
  // Any shape that all rows can do: only the name and the CPU are judged here.
  const BgemmChoice choice =
      SelectBgemm(BgemmRows(), DetectCpuFeatures(), {.n = 1, .k_bits = 1}, value);
  if (choice.row == nullptr) throw std::invalid_argument(source + ": " + choice.error);
  return std::string(value);
}

bool ParseFuse(std::string_view value) {
  const std::optional<bool> fuse = ParseSwitch(value);
  if (!fuse) {
    throw std::invalid_argument(std::string("option fuse: expected ") + kSwitchValues + ", got '" +
                                std::string(value) + "'");
  }
  return *fuse;
}

// What a CPU alone would ignore.
void CheckGpuIsAskedFor(const EngineOptions& options) {
  if (options.device != DeviceOption::kCpu) return;
  if (options.cuda_kernel != kAutoKernel) {
    throw std::invalid_argument("option kernel: " + options.cuda_kernel +
                                " is for GPUs; set device to cuda as well");
  }
  for (const auto& [node, on_cuda] : options.on_cuda) {
    if (on_cuda) {
      throw std::invalid_argument("option placement: node " + node.Text() +
                                  " is placed on cuda; set device to cuda as well");
    }
  }
}

}  // namespace

std::optional<bool> ParseSwitch(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "on" || lower == "true" || lower == "1") return true;
  if (lower == "off" || lower == "false" || lower == "0") return false;
  return std::nullopt;
}

std::string NamesOfGpuKernels(std::string_view separator) {
  std::string text;
  for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
    text += (text.empty() ? "" : std::string(separator)) + cuda::RowOf(row.kernel).name;
  }
  return text;
}

EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count) {
  EngineOptions options;
  options.kernel = kAutoKernel;
  if (const char* device = Variable(kDeviceVariable)) {
    ParseDevice(device, std::string("environment variable ") + kDeviceVariable, options);
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i] == nullptr ? "" : keys[i];
    const std::string_view value = values[i] == nullptr ? "" : values[i];
    if (key == "num_threads") {
      options.num_threads = ParseThreads(value);
    } else if (key == "device") {
      options.cuda_ordinal = 0;
      ParseDevice(value, "option device", options);
    } else if (key == "placement") {
      options.on_cuda = ParsePlacement(value);
    } else if (key == "kernel" && IsRowForGpus(value)) {
      options.cuda_kernel = value;
    } else if (key == "kernel") {
      options.kernel = ParseKernel(value, "option kernel");
    } else if (key == "fuse") {
      options.fuse = ParseFuse(value);
    } else {
      throw std::invalid_argument(
          "unknown option '" + std::string(key) +
          "'; expected one of num_threads, kernel, fuse, device, placement");
    }
  }
  CheckGpuIsAskedFor(options);
  const char* kernel = Variable(kKernelVariable);
  if (options.kernel == kAutoKernel && kernel != nullptr) {
    options.kernel = ParseKernel(kernel, std::string("environment variable ") + kKernelVariable);
  }
  return options;
}

}  // namespace larq_engine
