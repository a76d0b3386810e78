// The kernels for GPUs. Each has its row's name, by which the driver finds it.
#include "larq_engine/kernels/cuda/all_kernels.h"
#include "larq_engine/kernels/cuda/run_kernel.h"

namespace larq_engine::cuda {

// __grid_constant__: the parameter is read where it lies, without a copy a thread.
// Left alone, the compiler may hope for more blocks than there is room for, and spill registers.
#define LARQ_ENGINE_CUDA_KERNEL(name, Args, threads, shared_bytes, blocks, ...) \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                 \
      larq_engine_##name(const __grid_constant__ Args args) {                   \
    RunKernel([&] { __VA_ARGS__(args); });                                      \
  }
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL

}  // namespace larq_engine::cuda
