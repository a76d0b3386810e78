// A GPU's memory, and the way there and back through memory that the device can read by itself.
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
  // As many threads copy to staging and from there.
  explicit CudaMemory(const CudaQueue& queue, int copy_threads = 1)
      : queue_(queue), copies_(copy_threads) {}
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
  // Pinned memory of the host, and when what was queued last with it is done.
  struct Staging {
    std::byte* data;
    size_t bytes;
    CudaEvent done;
    bool is_taken;
  };
  using Stagings = std::list<Staging>;
  class StagingLease;  // one of them, for a piece of a copy

  Stagings::iterator Add(size_t bytes);
  Stagings::iterator FindOrAdd(size_t bytes);
  void GiveBack(Stagings::iterator staging) noexcept;
  // Tells whether the byte is in memory of the host that a device can read by itself.
  bool IsPinned(const std::byte* byte) const;
  // Throws OpError unless the byte is in this GPU's memory; `got` comes before what it is in.
  void CheckIsThere(const std::byte* byte, const std::string& got) const;

  const CudaQueue& queue_;
  HostCopies copies_;
  mutable std::mutex mutex_;  // guards what follows; nobody waits for the device with it
  Stagings stagings_;         // what was given back last is last
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_
