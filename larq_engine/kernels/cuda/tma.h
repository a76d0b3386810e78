// Copies of boxes that chips of compute capability 9.0 make by themselves, and the barriers that
// report their arrival. As in ptx.h, each instruction has two bodies; its rule is in tma_rules.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_TMA_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/tensor_map.h"
#include "larq_engine/kernels/cuda/tma_rules.h"
#ifndef __CUDACC__
#include "larq_engine/kernels/cuda/emulated_tma.h"
#endif

namespace larq_engine::cuda {

// The bytes of a barrier in shared memory, and their alignment.
inline constexpr int kBarrierBytes = 8;

// Makes a barrier; one thread calls it. Before others use the barrier, the same thread must call
// FenceForProducts, and all threads must meet at a __syncthreads.
LE_DEVICE void MakeBarrier(uint32_t barrier, int arrivals) {
#ifdef __CUDACC__
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
               : "memory");
#else
  emulated_gpu::MakePhaseBarrier(barrier, static_cast<uint32_t>(arrivals));
#endif
}

// Arrives at a barrier. Threads that have waited for the phase see what this thread did before.
LE_DEVICE void Arrive(uint32_t barrier) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
#else
  emulated_gpu::Arrive(barrier, 0);
#endif
}

// Arrives at a barrier, and adds `bytes` of copies to those that the phase waits for.
LE_DEVICE void ArriveAndExpect(uint32_t barrier, int bytes) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
#else
  emulated_gpu::Arrive(barrier, static_cast<uint32_t>(bytes));
#endif
}

// Waits until the last phase of that parity has ended. The first phase has parity 0; before it,
// parity 1 counts as ended.
LE_DEVICE void WaitForPhase(uint32_t barrier, uint32_t parity) {
#ifdef __CUDACC__
  uint32_t has_ended = 0;
  while (has_ended == 0) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(has_ended)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
#else
  emulated_gpu::WaitForPhase(barrier, parity);
#endif
}

// Copies the box that begins in column x of row y to shared memory; its bytes arrive at `barrier`.
// `map` must be part of the kernel's parameter.
LE_DEVICE void CopyBox(uint32_t to, const TensorMap& map, int x, int y, uint32_t barrier) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
#else
  emulated_gpu::IssueBoxCopy(map, x, y, to, barrier);
#endif
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_TMA_H_
