#include "larq_engine/runtime/executors.h"

#include <algorithm>

#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/cuda/cuda_executor.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/devices.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {
namespace {

// Number of the GPU in an engine.
constexpr size_t kCudaDevice = 1;

// Returns null if there is no usable GPU and the options do not require one.
std::shared_ptr<CudaDevice> FindCudaDevice(const EngineOptions& options) {
  if (options.device == DeviceOption::kCpu) return nullptr;
  try {
    return OpenCudaDevice(options.cuda_ordinal);
  } catch (const OpError& e) {
    if (options.device == DeviceOption::kAuto) return nullptr;  // larq_engine_devices says why
    throw OpError(std::string("device=cuda: ") + e.what() + "; or set device to cpu, or to auto");
  }
}

// Also describes a GPU that cannot be used.
std::string DescribeGpu(int ordinal) {
  const std::string start = "cuda:" + std::to_string(ordinal) + ": ";
  try {
    const std::shared_ptr<CudaDevice> device = OpenCudaDevice(ordinal);
    return start + device->Description() + device->Caveat();
  } catch (const OpError& e) {
    return start + "none: " + e.what();
  }
}

}  // namespace

std::shared_ptr<Engine> MakeEngine(const EngineOptions& options) {
  std::vector<std::unique_ptr<Executor>> executors;
  executors.push_back(std::make_unique<CpuExecutor>(options));
  const std::shared_ptr<CudaDevice> device = FindCudaDevice(options);
  if (device != nullptr) {
    executors.push_back(std::make_unique<CudaExecutor>(device, options));
  }
  const size_t devices = executors.size();
  return std::make_shared<Engine>(
      options, std::move(executors),
      MakePlacement(options.placement.value_or(PlacementOption()), options.device, devices));
}

Placement MakePlacement(const PlacementOption& option, DeviceOption device, size_t devices) {
  Placement placement;
  placement.by_cost = device == DeviceOption::kAuto;
  for (const auto& [node, placed] : option) {
    NodePlacement& place = placement.nodes[node];
    place.channels = placed.channels;
    for (const PartOption& part : placed.parts) {
      const bool is_absent = part.on_cuda && kCudaDevice >= devices;
      // The CPU computes instead of an absent device, and chooses its own kernel.
      place.parts.push_back({.device = part.on_cuda && !is_absent ? kCudaDevice : kCpuDevice,
                             .kernel = is_absent ? "" : part.kernel});
    }
  }
  return placement;
}

std::string DescribeDevices() {
  std::string text = "cpu: " + NamesOfKernels(DetectCpuFeatures(), " ");
  try {
    const int gpus = std::max(CountCudaDevices(), 1);  // without a GPU, a line says so
    for (int ordinal = 0; ordinal < gpus; ++ordinal) text += "\n" + DescribeGpu(ordinal);
  } catch (const OpError& e) {
    text += std::string("\ncuda: none: ") + e.what();
  }
  return text;
}

int CountUsableCpus() { return UsableCpus(); }

}  // namespace larq_engine
