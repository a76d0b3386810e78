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
  std::byte* pages;  // include the pages before and behind the block, which nobody may touch
  size_t page_bytes;
};

// Memory whose blocks end at a page that nobody may touch. The alignment of the driver's memory
// leaves a gap before the page, which is checked when a block is freed. Blocks are filled with
// 0xA5. Their addresses stay out of reach for long after they are freed.
class GuardedMemory {
 public:
  ~GuardedMemory();

  std::byte* Allocate(size_t bytes, bool on_device, CUcontext context);
  // Frees a block. Misused if there is no such block, or if the gap behind it was written to.
  void Free(const void* memory, bool on_device);

  // Returns the block that holds an address, or null.
  const MemoryBlock* Find(const void* address) const;

  size_t blocks() const { return blocks_.size(); }
  size_t device_bytes(CUcontext context) const;

 private:
  std::map<const std::byte*, MemoryBlock> blocks_;  // by their first byte
  std::deque<MemoryBlock> freed_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_MEMORY_H_
