// A GPU's memory, and the way there and back through memory that the device can read by itself.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_

#include <list>
#include <mutex>

#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CudaMemory : public DeviceMemory {
 public:
  explicit CudaMemory(const CudaQueue& queue) : queue_(queue) {}
  ~CudaMemory() override;

  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* memory) noexcept override;
  double Seconds(size_t bytes) const override;
  void Wait() noexcept override;
  void CopyIn(const std::byte* host, size_t bytes, std::byte* device) override;
  void CopyOut(const std::byte* device, size_t bytes, std::byte* host) override;

 private:
  // Pinned memory of the host, and when what was queued last with it is done.
  struct Staging {
    std::byte* data;
    size_t bytes;
    CudaEvent done;
    bool is_taken;
  };
  class Taken;  // one of them, for a copy

  Staging& Take(size_t bytes);
  void GiveBack(Staging& staging) noexcept;

  const CudaQueue& queue_;
  std::mutex mutex_;             // guards what follows
  std::list<Staging> stagings_;  // as many as copies were ever under way together
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_MEMORY_H_
