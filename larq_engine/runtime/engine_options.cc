#include "larq_engine/runtime/engine_options.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace larq_engine {
namespace {

constexpr const char* kKernelVariable = "LARQ_ENGINE_KERNEL";
constexpr const char* kDeviceVariable = "LARQ_ENGINE_DEVICE";
constexpr const char* kSpinVariable = "LARQ_ENGINE_SPIN_US";

// The longest time that threads may look for work; a second.
constexpr int kMostSpin = 1'000'000;

// Returns the variable's text, or null if it is unset or empty.
const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == 0 ? nullptr : value;
}

int ParseThreads(std::string_view value) {
  const int threads = ParseNumber(value);
  if (threads < 1 || threads > kMaxThreads) {
    throw std::invalid_argument("option num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                                ", got '" + std::string(value) + "'");
  }
  return threads;
}

std::chrono::microseconds ParseSpin(std::string_view value) {
  const int spin = ParseNumber(value);
  if (spin < 0 || spin > kMostSpin) {
    throw std::invalid_argument(std::string("environment variable ") + kSpinVariable +
                                ": expected 0 to " + std::to_string(kMostSpin) +
                                " microseconds, got '" + std::string(value) + "'");
  }
  return std::chrono::microseconds(spin);
}

// Returns "cpu, auto, cuda, or cuda:N for GPU N".
std::string DeviceValues() {
  std::string values = "cpu, auto";
  for (const auto& [name, title] : AcceleratorKinds()) {
    values.append(", ").append(name).append(", or ").append(name);
    values.append(":N for ").append(title).append(" N");
  }
  return values;
}

// Reads the name of an accelerator, with or without a number. Returns false for other text.
bool ParseAccelerator(std::string_view value, EngineOptions& options) {
  const std::string_view name = value.substr(0, value.find(':'));
  const auto is_named = [&](const AcceleratorKind& kind) { return kind.name == name; };
  const std::span<const AcceleratorKind> kinds = AcceleratorKinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), is_named);
  if (found == kinds.end()) return false;
  options.device = DeviceOption::kAccelerator;
  options.accelerator = static_cast<size_t>(found - kinds.begin());
  if (name.size() < value.size()) options.ordinal = ParseNumber(value.substr(name.size() + 1));
  return options.ordinal >= 0;
}

// `source` names the origin of the value, for the error message.
void ParseDevice(std::string_view value, const std::string& source, EngineOptions& options) {
  options.ordinal = 0;
  if (value == "cpu") {
    options.device = DeviceOption::kCpu;
  } else if (value == "auto") {
    options.device = DeviceOption::kAuto;
  } else if (!ParseAccelerator(value, options)) {
    throw std::invalid_argument(source + ": expected " + DeviceValues() + ", got '" +
                                std::string(value) + "'");
  }
}

bool ParseFuse(std::string_view value) {
  const std::optional<bool> fuse = ParseSwitch(value);
  if (!fuse) {
    throw std::invalid_argument(std::string("option fuse: expected ") + kSwitchValues + ", got '" +
                                std::string(value) + "'");
  }
  return *fuse;
}

// Throws std::invalid_argument if a kernel for GPUs is named and only the CPU computes.
void CheckGpuIsAskedFor(const EngineOptions& options) {
  if (options.device == DeviceOption::kCpu && options.cuda_kernel != kAutoKernel) {
    throw std::invalid_argument("option kernel: " + options.cuda_kernel +
                                " is for GPUs; set device to cuda as well");
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

EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count,
                                 DeviceOption device) {
  EngineOptions options;
  options.kernel = kAutoKernel;
  options.device = device;
  if (const char* variable = Variable(kDeviceVariable)) {
    ParseDevice(variable, std::string("environment variable ") + kDeviceVariable, options);
  }
  if (const char* spin = Variable(kSpinVariable)) options.spin = ParseSpin(spin);
  std::string_view placement;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = keys[i] == nullptr ? "" : keys[i];
    const std::string_view value = values[i] == nullptr ? "" : values[i];
    if (key == "num_threads") {
      options.num_threads = ParseThreads(value);
    } else if (key == "device") {
      ParseDevice(value, "option device", options);
    } else if (key == "placement") {
      placement = value;
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
  if (!placement.empty()) {
    options.placement = ParsePlacement(placement, "option placement", options.device);
  }
  const char* kernel = Variable(kKernelVariable);
  if (options.kernel == kAutoKernel && kernel != nullptr) {
    options.kernel = ParseKernel(kernel, std::string("environment variable ") + kKernelVariable);
  }
  return options;
}

}  // namespace larq_engine
