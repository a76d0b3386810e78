// How every kernel runs. On chips of 9.0 and newer its launch may begin while the launch before it
// still runs, so that the microseconds of a beginning are not lost between two small kernels. Then
// it has to wait by itself: what it reads may not be written yet, and what it writes may still be
// read.
#ifndef LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_
#define LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_

#include "larq_engine/kernels/cuda/ptx.h"

namespace larq_engine::cuda {

// Each thread waits before it does anything, so that none can end without: a launch is complete
// only when the one before it is. So whoever waits for a launch has waited for all before it. The
// next launch may begin after that and not sooner, as its blocks would take the place of others for
// nothing.
template <class Kernel>
LE_DEVICE void RunKernel(const Kernel& kernel) {
  WaitForEarlierLaunches();
  LetNextLaunchBegin();
  kernel();
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_RUN_KERNEL_H_
