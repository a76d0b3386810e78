#include "larq_engine/runtime/cuda/host_copies.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace larq_engine {
namespace {

// What a thread takes at a time. A core copies it in some 15 us, which is what it takes to wake
// another: whoever is awake copies what the others have not begun.
constexpr size_t kUnit = 128 << 10;

// A smaller copy is done before the others are awake.
constexpr size_t kLarge = 4 * kUnit;

}  // namespace

bool HostCopies::IsForSeveral(size_t bytes) const { return thread_count_ > 1 && bytes >= kLarge; }

ThreadPool& HostCopies::Threads() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_ == nullptr) threads_ = std::make_unique<ThreadPool>(thread_count_);
  return *threads_;
}

void HostCopies::Reserve(size_t bytes) {
  if (IsForSeveral(bytes)) Threads();
}

void HostCopies::Copy(const std::byte* from, size_t bytes, std::byte* to) {
  if (!IsForSeveral(bytes)) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto copy = [=](int64_t first, int64_t last) {
    const size_t begin = static_cast<size_t>(first) * kUnit;
    const size_t end = std::min(bytes, static_cast<size_t>(last) * kUnit);
    std::memcpy(to + begin, from + begin, end - begin);
  };
  Threads().Run(
      static_cast<int64_t>((bytes - 1) / kUnit + 1),
      [](void* context, int64_t first, int64_t last, int) {
        (*static_cast<decltype(copy)*>(context))(first, last);
      },
      const_cast<void*>(static_cast<const void*>(&copy)));
}

}  // namespace larq_engine
