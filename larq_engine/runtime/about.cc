#include "larq_engine/kernels/select.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/version.h"

extern "C" const char* larq_engine_version(void) { return LARQ_ENGINE_VERSION; }

extern "C" const char* larq_engine_kernels(void) {
  static const std::string names = [] {
    std::string text;
    const larq_engine::CpuFeatures cpu = larq_engine::DetectCpuFeatures();
    for (const larq_engine::BgemmRow& row : larq_engine::BgemmRows()) {
      if (cpu.Has(row.isa)) text += (text.empty() ? "" : ",") + std::string(row.name);
    }
    return text;
  }();
  return names.c_str();
}
