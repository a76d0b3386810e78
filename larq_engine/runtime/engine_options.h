// Options that a user may set, as the strings that the external-delegate interface carries.
#ifndef LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
#define LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "larq_engine/kernels/binary/select.h"
#include "larq_engine/runtime/placement_option.h"
#include "larq_engine/runtime/thread_pool.h"

namespace larq_engine {

inline constexpr int kMaxThreads = 256;

struct EngineOptions {
  int num_threads = 0;  // upper limit; 0: the host's own number
  std::string kernel;   // kAutoKernel, kReferenceKernel or the name of a row that this CPU runs
  std::chrono::microseconds spin = kDefaultSpin;
  bool fuse = true;  // includes the host's operators between ours; results are the same
  DeviceOption device = DeviceOption::kCpu;
  size_t accelerator = 0;  // for kAccelerator: its kind
  int ordinal = 0;         // number of the accelerator among those of its kind
  std::string cuda_kernel = std::string(kAutoKernel);  // or the name of a row for GPUs
  // Devices of the nodes that it names. Without a value, the model's file decides.
  std::optional<PlacementOption> placement = std::nullopt;
};

// Reads "on" or "off" (kSwitchValues) in any spelling and case; returns nothing for other text.
std::optional<bool> ParseSwitch(std::string_view value);
inline constexpr const char* kSwitchValues = "on or off (true or false, 1 or 0)";

// Throws std::invalid_argument, which names the valid options or values. If an option is not given,
// its environment variable counts; if there is no variable for the device either, `device` does.
EngineOptions ParseEngineOptions(const char* const* keys, const char* const* values, size_t count,
                                 DeviceOption device = DeviceOption::kCpu);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_ENGINE_OPTIONS_H_
