#include "larq_engine/runtime/accelerators.h"

#include <algorithm>

#include "larq_engine/runtime/cuda/cuda_executor.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

ExecutorMaker FindCuda(const EngineOptions& options) {
  return [device = OpenCudaDevice(options.ordinal), &options] {
    return std::make_unique<CudaExecutor>(device, options);
  };
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

std::string DescribeGpus() {
  try {
    std::string text;
    const int gpus = std::max(CountCudaDevices(), 1);
    for (int ordinal = 0; ordinal < gpus; ++ordinal) text += "\n" + DescribeGpu(ordinal);
    return text;
  } catch (const OpError& e) {
    return std::string("\ncuda: none: ") + e.what();
  }
}

constexpr Accelerator kAccelerators[] = {{.find = FindCuda, .describe = DescribeGpus}};

}  // namespace

std::span<const Accelerator> Accelerators() { return kAccelerators; }

}  // namespace larq_engine
