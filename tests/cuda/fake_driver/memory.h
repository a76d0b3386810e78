// Memory of the fake device, and pinned memory of the host.
#ifndef LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_MEMORY_H_
#define LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_MEMORY_H_

#include <cstddef>
#include <deque>
#include <map>

#include "larq_engine/runtime/cuda/cuda_abi.h"

namespace larq_engine::testing {

// Ends the program with a message.
[[noreturn]] __attribute__((format(printf, 1, 2))) void Misused(const char* format, ...);

struct MemoryBlock {
  std::byte* begin;
  size_t bytes;
  bool on_device;
  CUcontext context;
  std::byte* pages;  // with those before and behind that nobody may touch
  size_t page_bytes;
};

// Blocks end at a page that nobody may touch, up to the alignment of the driver's memory (what lies
// between is looked at when they are freed). They are filled with 0xA5, and stay out of reach for
// long after they are freed.
class GuardedMemory {
 public:
  ~GuardedMemory();

  std::byte* Allocate(size_t bytes, bool on_device, CUcontext context);
  // Misused if it is none, or was written behind its end.
  void Free(const void* memory, bool on_device);

  // The block that holds an address, null if none does.
  const MemoryBlock* Find(const void* address) const;

  size_t blocks() const { return blocks_.size(); }
  size_t device_bytes(CUcontext context) const;

 private:
  std::map<const std::byte*, MemoryBlock> blocks_;  // by their begin
  std::deque<MemoryBlock> freed_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_MEMORY_H_
