#include "larq_engine/kernels/cuda/image.h"

#include <cstring>

#include "larq_engine/version.h"

// The first byte of the fat binary, and the end of it.
extern "C" const char larq_engine_cuda_code[];
extern "C" const char larq_engine_cuda_code_end[];

const char* larq_engine_cuda_version(void) { return LARQ_ENGINE_VERSION; }

const LarqEngineCudaImage* larq_engine_cuda_image(const char* version) {
  static const LarqEngineCudaImage image = {
      larq_engine_cuda_code,
      static_cast<size_t>(larq_engine_cuda_code_end - larq_engine_cuda_code)};
  return std::strcmp(version, LARQ_ENGINE_VERSION) == 0 ? &image : nullptr;
}
