// Runs a kernel. On compute capability 9.0 and newer its launch may begin while the launch before
// still runs, which saves the microseconds that a kernel takes to begin between two small kernels.
// The kernel then has to wait by itself: what it reads may not be written yet, and what it writes
// may still be read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_
#define LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_

#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// Each thread waits before it does anything, so that no thread can end without having waited. A
// launch is therefore complete only when the launch before it is, and whoever waits for one launch
// has waited for all earlier ones. The next launch may begin only after that: its blocks would take
// the place of others for nothing.
template <class Kernel>
LE_DEVICE void RunKernel(const Kernel& kernel) {
  WaitForEarlierLaunches();
  LetNextLaunchBegin();
  kernel();
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_
