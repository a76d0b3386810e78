// The memory of a GPU, and copies to and from it. Copies go through staging: pinned memory of the
// host, which the device accesses by itself.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_

#include <list>
#include <mutex>
#include <string>

#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/host_copies.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CudaMemory : public DeviceMemory {
 public:
  // `copy_threads` threads copy to and from staging. They look for work during `spin`, and then
  // sleep.
  explicit CudaMemory(const CudaQueue& queue, int copy_threads = 1,
                      std::chrono::microseconds spin = kDefaultSpin)
      : queue_(queue), copies_(copy_threads, spin) {}
  ~CudaMemory() override;

  size_t StagingBytes() const override;
  void ReserveStaging(size_t bytes) override;
  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* memory) noexcept override;
  double Seconds(size_t bytes) const override;
  void Wait() noexcept override;
  void CopyIn(const std::byte* host, size_t bytes, std::byte* device) override;
  void CopyOut(const std::byte* device, size_t bytes, std::byte* host) override;
  void CopyGiven(const std::byte* host, size_t bytes, std::byte* device) override;
  void AwaitMade(const std::byte* made, size_t bytes) override;
  void CopyMade(const std::byte* made, size_t bytes, std::byte* device) override;

 private:
  // A piece of pinned memory, and the event that completes after the last work that was queued with
  // it.
  struct Staging {
    std::byte* data;
    size_t bytes;
    CudaEvent done;
    bool is_taken;
  };
  using Stagings = std::list<Staging>;
  class StagingLease;  // holds a Staging during a piece of a copy

  Stagings::iterator Add(size_t bytes);
  Stagings::iterator FindOrAdd(size_t bytes);
  void GiveBack(Stagings::iterator staging) noexcept;
  // Tells whether the byte is in pinned memory of the host, which a device can access by itself.
  bool IsPinned(const std::byte* byte) const;
  // Throws OpError unless the byte is in this GPU's memory. In the error, `got` comes before the
  // place where the byte is.
  void CheckIsThere(const std::byte* byte, const std::string& got) const;

  const CudaQueue& queue_;
  HostCopies copies_;
  mutable std::mutex mutex_;  // guards stagings_; no thread waits for the device while it holds it
  Stagings stagings_;         // in the order in which they were given back
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_
