// Barriers with phases, and copies of boxes that arrive at them, on the emulated GPU. A copy
// arrives either when a thread waits at its barrier or at once: the rules allow both.
#ifndef LARQ_ENGINE_KERNELS_CUDA_EMULATED_TMA_H_
#define LARQ_ENGINE_KERNELS_CUDA_EMULATED_TMA_H_

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "larq_engine/kernels/cuda/emulated_gpu.h"

namespace larq_engine::emulated_gpu {

// ---- The tensor map of the emulated GPU

struct EmulatedTensorMap {
  uint64_t magic;
  cuda::MatrixMap matrix;
};
inline constexpr uint64_t kEmulatedTensorMap = 0x70616d726f736e74;

// Makes the tensor map of a matrix. `map` must not be on the stack under gcc 12's AddressSanitizer,
// which aligns it to less than its type asks for.
inline void MakeTensorMap(const cuda::MatrixMap& matrix, cuda::TensorMap& map) {
  static_assert(sizeof(EmulatedTensorMap) <= sizeof(cuda::TensorMap));
  const EmulatedTensorMap own{kEmulatedTensorMap, matrix};
  std::memcpy(map.opaque, &own, sizeof(own));
}

inline cuda::MatrixMap ReadTensorMap(const cuda::TensorMap& map) {
  EmulatedTensorMap own;
  std::memcpy(&own, map.opaque, sizeof(own));
  if (own.magic != kEmulatedTensorMap) Fail("a tensor map was not made by the driver");
  return own.matrix;
}

// ---- Barriers

#ifdef __SANITIZE_THREAD__
using PhasesLock = std::unique_lock<std::mutex>;
inline PhasesLock LockPhases() { return PhasesLock(MyBlock().phases_mutex); }
#else
struct [[maybe_unused]] PhasesLock {};
inline PhasesLock LockPhases() { return {}; }
#endif

inline PhaseBarrier& BarrierAt(uint32_t address) {
  const auto found = MyBlock().phase_barriers.find(address);
  if (found == MyBlock().phase_barriers.end()) {
    Fail("there is no barrier at shared address " + std::to_string(address));
  }
  return found->second;
}

inline void WakeWaiters([[maybe_unused]] const PhaseBarrier& barrier) {
#ifdef __SANITIZE_THREAD__
  MyBlock().phases_changed.notify_all();
#else
  for (Thread& thread : MyBlock().threads) {
    if (thread.waits_at == &barrier) thread.waits_at = nullptr;
  }
#endif
}

// Makes a barrier. The block may use it once the thread that makes it has come to a __syncthreads;
// copies may arrive at it after a fence.
inline void MakePhaseBarrier(uint32_t address, uint32_t arrivals) {
  CheckSharedAddress(address, 8);
  [[maybe_unused]] const PhasesLock lock = LockPhases();
  const auto [barrier, is_new] = MyBlock().phase_barriers.try_emplace(address);
  if (!is_new) Fail("a barrier is made twice");
  barrier->second.rule.arrivals = arrivals;
  MyThread().unfenced_barriers.push_back(address);
}

inline void FencePhaseBarriers() {
  [[maybe_unused]] const PhasesLock lock = LockPhases();
  for (const uint32_t address : std::exchange(MyThread().unfenced_barriers, {})) {
    BarrierAt(address).is_fenced = true;
  }
}

inline void Arrive(uint32_t address, uint32_t expected_bytes) {
  [[maybe_unused]] const PhasesLock lock = LockPhases();
  PhaseBarrier& barrier = BarrierAt(address);
  if (barrier.rule.arrived == barrier.rule.arrivals) {
    Fail("more arrive at a barrier than its phase is for");
  }
  barrier.rule.Arrive(expected_bytes);
  WakeWaiters(barrier);
}

// Writes a copy's box and counts its bytes. The caller holds LockPhases().
inline void Receive(PhaseBarrier& barrier, const BoxCopy& copy) {
  for (uint32_t r = 0; r < static_cast<uint32_t>(copy.matrix.box_rows); ++r) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(copy.matrix.box_words); ++i) {
      const uint32_t word = cuda::BoxWordRule(copy.matrix, copy.x, copy.y, r, i);
      const uint32_t at = cuda::BoxAddressRule(copy.matrix, copy.to, r, i);
      std::memcpy(SharedAt(at, 4), &word, 4);
      std::memcpy(MyBlock().fenced_shared + at, &word, 4);
    }
  }
  barrier.rule.Receive(cuda::BoxBytes(copy.matrix));
  if (barrier.rule.bytes < 0) Fail("more bytes arrive at a barrier than it was told to expect");
  WakeWaiters(barrier);
}

inline void IssueBoxCopy(const cuda::TensorMap& map, int32_t x, int32_t y, uint32_t to,
                         uint32_t address) {
  CheckSharedAddress(to, 128);
  if (reinterpret_cast<uintptr_t>(&map) % alignof(cuda::TensorMap) != 0) {
    Fail("a tensor map is not at a multiple of 128 bytes");
  }
  [[maybe_unused]] const PhasesLock lock = LockPhases();
  PhaseBarrier& barrier = BarrierAt(address);
  if (!barrier.is_fenced) Fail("a copy arrives at a barrier that has no fence");
  const BoxCopy copy{ReadTensorMap(map), x, y, to};
  if (MyBlock().options.early_copies) return Receive(barrier, copy);
  barrier.copies.push_back(copy);
  WakeWaiters(barrier);
}

inline void WaitForPhase(uint32_t address, uint32_t parity) {
  [[maybe_unused]] PhasesLock lock = LockPhases();
  PhaseBarrier& barrier = BarrierAt(address);
  for (;;) {
    if (barrier.rule.HasEnded(parity)) return;
    // The copies arrive in reverse order.
    while (!barrier.copies.empty()) {
      const BoxCopy copy = barrier.copies.back();
      barrier.copies.pop_back();
      Receive(barrier, copy);
    }
    if (barrier.rule.HasEnded(parity)) return;
#ifdef __SANITIZE_THREAD__
    MyBlock().phases_changed.wait(lock);
#else
    MyThread().waits_at = &barrier;
    SwitchToScheduler(MyThread());
#endif
  }
}

}  // namespace larq_engine::emulated_gpu

#endif  // LARQ_ENGINE_KERNELS_CUDA_EMULATED_TMA_H_
