#include "tests/cuda/fake_driver/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#endif

namespace larq_engine::testing {
namespace {

constexpr size_t kAlignment = 256;  // of the driver's blocks
constexpr size_t kFreedBlocks = 1000;
constexpr std::byte kFill{0xA5};

size_t RoundUp(size_t value, size_t step) { return (value + step - 1) / step * step; }

size_t Gap(const MemoryBlock& block) { return RoundUp(block.bytes, kAlignment) - block.bytes; }

}  // namespace

void Misused(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fputs("fake CUDA driver: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputs("\n", stderr);
  va_end(arguments);
  std::abort();
}

GuardedMemory::~GuardedMemory() {
  for (const MemoryBlock& block : freed_) munmap(block.pages, block.page_bytes);
}

std::byte* GuardedMemory::Allocate(size_t bytes, bool on_device, CUcontext context) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t own = RoundUp(RoundUp(bytes, kAlignment), page);
  const size_t all = own + 2 * page;
  void* pages = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(pages);
  if (mprotect(first + page, own, PROT_READ | PROT_WRITE) != 0) {
    munmap(pages, all);
    return nullptr;
  }
  std::memset(first + page, static_cast<int>(kFill), own);
  std::byte* begin = first + page + own - RoundUp(bytes, kAlignment);
  const MemoryBlock block = {begin, bytes, on_device, context, first, all};
  ASAN_POISON_MEMORY_REGION(begin + bytes, Gap(block));
  blocks_[begin] = block;
  return begin;
}

void GuardedMemory::Free(const void* memory, bool on_device) {
  const char* kind = on_device ? "device memory" : "pinned memory";
  const auto found = blocks_.find(static_cast<const std::byte*>(memory));
  if (found == blocks_.end() || found->second.on_device != on_device) {
    Misused("%s at %p is freed that is none, or is no more", kind, memory);
  }
  const MemoryBlock block = found->second;
  std::byte* end = block.begin + block.bytes;
  ASAN_UNPOISON_MEMORY_REGION(end, Gap(block));
  if (std::any_of(end, end + Gap(block), [](std::byte byte) { return byte != kFill; })) {
    Misused("%s at %p was written behind its %zu bytes", kind, memory, block.bytes);
  }
  blocks_.erase(found);
  // A new mapping has no pages, so that freed memory costs only addresses.
  mmap(block.pages, block.page_bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  freed_.push_back(block);
  if (freed_.size() > kFreedBlocks) {
    munmap(freed_.front().pages, freed_.front().page_bytes);
    freed_.pop_front();
  }
}

const MemoryBlock* GuardedMemory::Find(const void* address) const {
  const auto* wanted = static_cast<const std::byte*>(address);
  auto behind = blocks_.upper_bound(wanted);
  if (behind == blocks_.begin()) return nullptr;
  const MemoryBlock& block = std::prev(behind)->second;
  return wanted < block.begin + block.bytes ? &block : nullptr;
}

size_t GuardedMemory::device_bytes(CUcontext context) const {
  size_t bytes = 0;
  for (const auto& [begin, block] : blocks_) {
    if (block.on_device && block.context == context) bytes += block.bytes;
  }
  return bytes;
}

}  // namespace larq_engine::testing
