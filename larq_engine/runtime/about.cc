#include <string>

#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/c_calls.h"
#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/version.h"

const char* larq_engine_version(void) { return LARQ_ENGINE_VERSION; }

const char* larq_engine_kernels(void) {
  static const std::string names =
      larq_engine::NamesOfKernels(larq_engine::DetectCpuFeatures(), ",");
  return names.c_str();
}

const char* larq_engine_gpu_kernels(void) {
  static const std::string names = larq_engine::NamesOfGpuKernels(",");
  return names.c_str();
}

int larq_engine_usable_cpus(void) { return larq_engine::CountUsableCpus(); }

size_t larq_engine_devices(char* text, size_t size) {
  return larq_engine::WriteText(text, size, larq_engine::DescribeDevices);
}
