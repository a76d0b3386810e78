// Compiles the engine's kernels for GPUs, and HEP-BNN's.
#include "benchmarks/placing/hep_kernel.h"

#define LARQ_ENGINE_MORE_CUDA_KERNELS "benchmarks/placing/hep_kernels.inc"
#include "larq_engine/kernels/cuda/kernels.cu"
