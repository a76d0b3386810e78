// What chips of 9.0 copy by themselves, box by box, and the barriers that tell of it. As in ptx.h,
// each instruction has two bodies; its rule is in tma_rules.h.
#ifndef LARQ_ENGINE_KERNELS_CUDA_TMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_TMA_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/tensor_map.h"
#include "larq_engine/kernels/cuda/tma_rules.h"
#ifndef __CUDACC__
#include "larq_engine/kernels/cuda/emulated_tma.h"
#endif

namespace larq_engine::cuda {

// Of shared memory, at a multiple of it.
inline constexpr int kBarrierBytes = 8;

// By one thread. FenceForProducts of the same, and a barrier of all, come before its use.
LE_DEVICE void MakeBarrier(uint32_t barrier, int arrivals) {
#ifdef __CUDACC__
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
               : "memory");
#else
  emulated_gpu::MakePhaseBarrier(barrier, static_cast<uint32_t>(arrivals));
#endif
}

// What this thread did before is seen by those who have waited for the phase.
LE_DEVICE void Arrive(uint32_t barrier) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
#else
  emulated_gpu::Arrive(barrier, 0);
#endif
}

// And so many bytes of copies belong to the phase.
LE_DEVICE void ArriveAndExpect(uint32_t barrier, int bytes) {
#ifdef __CUDACC__
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
#else
  emulated_gpu::Arrive(barrier, static_cast<uint32_t>(bytes));
#endif
}

// Until the last phase of that parity has ended; the first phase's is 0, and before it 1 has ended.
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

// Copies the box that begins in column x of row y to shared memory, where `barrier` is told of its
// bytes. `map` lies in the kernel's parameter.
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
