#include "larq_engine/runtime/executors.h"

#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/accelerators.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/devices.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {
namespace {

// Returns an empty function if there is no usable device and the options do not require one.
ExecutorMaker FindAccelerator(const EngineOptions& options) {
  if (options.device == DeviceOption::kCpu) return nullptr;
  if (options.device == DeviceOption::kAccelerator) {
    try {
      return Accelerators()[options.accelerator].find(options);
    } catch (const OpError& e) {
      const std::string name(AcceleratorKinds()[options.accelerator].name);
      throw OpError("device=" + name + ": " + e.what() + "; or set device to cpu, or to auto");
    }
  }
  for (const Accelerator& row : Accelerators()) {
    try {
      return row.find(options);
    } catch (const OpError&) {
      continue;  // larq_engine_devices says why
    }
  }
  return nullptr;
}

// Returns the number of the device of this kind in an engine; nothing if it has none.
std::optional<size_t> FindDevice(std::span<const std::unique_ptr<Executor>> executors,
                                 size_t kind) {
  for (size_t i = 0; i < executors.size(); ++i) {
    const std::string_view device = executors[i]->device();
    if (device.substr(0, device.find(':')) == AcceleratorKinds()[kind].name) return i;
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<Engine> MakeEngine(const EngineOptions& options) {
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<CpuExecutor>(options));
  if (const ExecutorMaker make = FindAccelerator(options)) executors.push_back(make());
  Placement placement =
      MakePlacement(options.placement.value_or(PlacementOption()), options.device, executors);
  return std::make_shared<Engine>(options, std::move(executors), std::move(placement));
}

Placement MakePlacement(const PlacementOption& option, DeviceOption device,
                        std::span<const std::unique_ptr<Executor>> executors) {
  Placement placement;
  placement.by_cost = device == DeviceOption::kAuto;
  for (const auto& [node, placed] : option) {
    NodePlacement& place = placement.nodes[node];
    place.channels = placed.channels;
    for (const PartOption& part : placed.parts) {
      const std::optional<size_t> found =
          part.accelerator ? FindDevice(executors, *part.accelerator) : kCpuDevice;
      // The CPU computes instead of an absent device, and chooses its own kernel.
      place.parts.push_back(
          {.device = found.value_or(kCpuDevice), .kernel = found ? part.kernel : ""});
    }
  }
  return placement;
}

std::string DescribeDevices() {
  std::string text = "cpu: " + NamesOfKernels(DetectCpuFeatures(), " ");
  for (const Accelerator& row : Accelerators()) text += row.describe();
  return text;
}

int CountUsableCpus() { return UsableCpus(); }

}  // namespace larq_engine
