// The second library, which holds the kernels for GPUs.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_

#include <string>

#include "larq_engine/kernels/cuda/image.h"

namespace larq_engine {

// Returns the path where the library is expected: beside the library or program that holds this
// code.
std::string CudaImagePath();

// Opens the library, which is never closed. Throws OpError that says what is missing or does not
// match.
const LarqEngineCudaImage& OpenCudaImage(const std::string& path);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_
