// The kernels for GPUs. Each has the name of its row, by which the driver finds it.
#include "larq_engine/kernels/cuda/all_kernels.h"
#include "larq_engine/kernels/cuda/run_kernel.h"

namespace larq_engine::cuda {

// The parameter is a __grid_constant__, which threads read in place instead of copying it. Without
// the number of blocks, the compiler might optimize for more blocks than fit, and spill registers.
#define LARQ_ENGINE_CUDA_KERNEL(name, Args, bounds, ...)                          \
  extern "C" __global__ void __launch_bounds__((bounds).threads, (bounds).blocks) \
      larq_engine_##name(const __grid_constant__ Args args) {                     \
    RunKernel([&] { __VA_ARGS__(args); });                                        \
  }
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL

}  // namespace larq_engine::cuda
