#include <cstdio>
#include <exception>

#include "larq_engine/kernels/select.h"
#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/version.h"

const char* larq_engine_version(void) { return LARQ_ENGINE_VERSION; }

const char* larq_engine_kernels(void) {
  static const std::string names =
      larq_engine::NamesOfRows(larq_engine::BgemmRows(), larq_engine::DetectCpuFeatures(), ",");
  return names.c_str();
}

const char* larq_engine_gpu_kernels(void) {
  static const std::string names = larq_engine::NamesOfGpuKernels(",");
  return names.c_str();
}

size_t larq_engine_devices(char* text, size_t size) {
  try {
    const std::string devices = larq_engine::DescribeDevices();
    if (size > 0) std::snprintf(text, size, "%s", devices.c_str());
    return devices.size();
  } catch (const std::exception&) {  // out of memory
    if (size > 0) text[0] = 0;
    return 0;
  }
}
