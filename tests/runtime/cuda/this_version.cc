// A library that stands for the kernels of this version of larq_engine.
#include <cstring>

#include "larq_engine/kernels/cuda/image.h"
#include "larq_engine/version.h"

const char* larq_engine_cuda_version(void) { return LARQ_ENGINE_VERSION; }

const LarqEngineCudaImage* larq_engine_cuda_image(const char* version) {
  static const LarqEngineCudaImage image = {"kernels", sizeof("kernels")};
  return std::strcmp(version, LARQ_ENGINE_VERSION) == 0 ? &image : nullptr;
}
