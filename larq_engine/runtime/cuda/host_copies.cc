#include "larq_engine/runtime/cuda/host_copies.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace larq_engine {
namespace {

// Bytes that a thread copies at a time. A core copies them in about 15 us, which is as long as
// waking another thread takes; a thread that is awake copies units that the others have not begun.
constexpr size_t kUnit = 128 << 10;

// A copy of fewer bytes is done before other threads are awake.
constexpr size_t kLarge = 4 * kUnit;

}  // namespace

int HostCopies::ThreadsOf(size_t bytes) const { return bytes < kLarge ? 1 : thread_count_; }

ThreadTeams* HostCopies::TeamsFor(size_t bytes) {
  if (ThreadsOf(bytes) == 1) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (teams_ == nullptr && !is_refused_) {
    try {
      teams_ = ThreadTeams::OfProcess(thread_count_, spin_);
    } catch (const std::runtime_error&) {
      is_refused_ = true;
    }
  }
  return teams_.get();
}

void HostCopies::Reserve(size_t bytes) { TeamsFor(bytes); }

void HostCopies::Copy(const std::byte* from, size_t bytes, std::byte* to) {
  ThreadTeams* const teams = TeamsFor(bytes);
  if (teams == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto copy = [=](int64_t first, int64_t last) {
    const size_t begin = static_cast<size_t>(first) * kUnit;
    const size_t end = std::min(bytes, static_cast<size_t>(last) * kUnit);
    std::memcpy(to + begin, from + begin, end - begin);
  };
  ThreadTeams::Lease team(*teams);
  (*team).Run(
      static_cast<int64_t>((bytes - 1) / kUnit + 1),
      [](void* context, int64_t first, int64_t last, int) {
        (*static_cast<decltype(copy)*>(context))(first, last);
      },
      const_cast<void*>(static_cast<const void*>(&copy)));
}

}  // namespace larq_engine
