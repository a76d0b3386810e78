// The second library, which holds the kernels for GPUs.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_

#include <string>

#include "larq_engine/kernels/cuda/image.h"

namespace larq_engine {

// Where it is looked for: beside the library, or the program, that holds this code.
std::string CudaImagePath();

// Opens the library, which stays open. Throws OpError that says what is missing or does not match.
const LarqEngineCudaImage& OpenCudaImage(const std::string& path);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_IMAGE_H_
