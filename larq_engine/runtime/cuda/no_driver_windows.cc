// The kernels for GPUs are compiled for Linux only.
#include "larq_engine/runtime/cuda/cuda_image.h"
#include "larq_engine/runtime/cuda/driver.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

[[noreturn]] void Fail() { throw OpError("expected Linux for GPUs, got Windows: use the CPU"); }

}  // namespace

const CudaDriver& OpenCudaDriver() { Fail(); }

std::string CudaImagePath() { return ""; }

const LarqEngineCudaImage& OpenCudaImage(const std::string&) { Fail(); }

}  // namespace larq_engine
