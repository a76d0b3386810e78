// The kernels for GPUs. Each has its row's name, by which the driver finds it.
#include "larq_engine/kernels/cuda/all_kernels.h"

namespace larq_engine::cuda {

// At once on a multiprocessor. Of large blocks few fit anyway; left alone, the compiler hopes for
// more and spills registers for them. 0: left alone.
#define LARQ_ENGINE_CUDA_LEAST_BLOCKS(threads, shared_bytes) \
  ((threads) > 512 || (shared_bytes) > 16384 ? 1 : 0)

// __grid_constant__: the parameter is read where it lies, without a copy a thread.
#define LARQ_ENGINE_CUDA_KERNEL(name, Args, threads, shared_bytes, ...) \
  extern "C" __global__ void __launch_bounds__(                         \
      threads, LARQ_ENGINE_CUDA_LEAST_BLOCKS(threads, shared_bytes))    \
      larq_engine_##name(const __grid_constant__ Args args) {           \
    __VA_ARGS__(args);                                                  \
  }
#include "larq_engine/kernels/cuda/kernels.inc"
#undef LARQ_ENGINE_CUDA_KERNEL

}  // namespace larq_engine::cuda
