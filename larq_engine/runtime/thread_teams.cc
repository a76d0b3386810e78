#include "larq_engine/runtime/thread_teams.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "larq_engine/runtime/shared_by_key.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {

std::shared_ptr<ThreadTeams> ThreadTeams::OfProcess(int threads, std::chrono::microseconds spin) {
  using Key = std::tuple<pid_t, int, std::chrono::microseconds, std::string>;
  static auto& teams = *new SharedByKey<Key, ThreadTeams>;
  return teams.Get({getpid(), threads, spin, AllowedCpus()}, [&] {
    // More teams would only wait for each other's CPUs.
    const int most = std::max(1, (UsableCpus() + threads - 1) / threads);
    return std::make_shared<ThreadTeams>(threads, spin, most);
  });
}

ThreadTeams::ThreadTeams(int threads, std::chrono::microseconds spin, int most)
    : threads_(threads), spin_(spin), most_(most) {
  free_.reserve(static_cast<size_t>(most));  // so that Return allocates nothing
  free_.push_back(std::make_unique<ThreadPool>(threads, spin));
  made_ = 1;
}

std::unique_ptr<ThreadPool> ThreadTeams::Take() {
  if (getpid() != owner_) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<ThreadPool> team = std::move(free_.back());
      free_.pop_back();
      return team;
    }
    if (made_ == most_) return nullptr;
    ++made_;
  }
  try {
    return std::make_unique<ThreadPool>(threads_, spin_);
  } catch (...) {  // the system has no more threads, or no memory for them; the caller computes
    const std::lock_guard lock(mutex_);
    --made_;
    return nullptr;
  }
}

void ThreadTeams::Return(std::unique_ptr<ThreadPool> team) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(team));
}

}  // namespace larq_engine
