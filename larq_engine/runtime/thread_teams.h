// The threads of the process. Each run takes a team of them for its time. So models that run one
// after another have the same threads, and those that run at the same time have teams of their own,
// as many as there are CPUs for.
#ifndef LARQ_ENGINE_RUNTIME_THREAD_TEAMS_H_
#define LARQ_ENGINE_RUNTIME_THREAD_TEAMS_H_

#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "larq_engine/runtime/thread_pool.h"

namespace larq_engine {

// Teams of one size.
class ThreadTeams {
 public:
  // Returns the teams of this size, spin and the calling thread's CPUs that the whole process
  // shares. They end with their last user. Throws std::runtime_error if the system refuses threads.
  static std::shared_ptr<ThreadTeams> OfProcess(int threads, std::chrono::microseconds spin);

  // Starts one team. There will be at most `most`.
  ThreadTeams(int threads, std::chrono::microseconds spin, int most);

  int threads() const { return threads_; }

  // A team that one run has. While no team is free, it is the caller alone.
  class Lease {
   public:
    explicit Lease(ThreadTeams& teams) : teams_(teams) { TakeIfAlone(); }
    ~Lease() {
      if (team_ != nullptr) teams_.Return(std::move(team_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // Takes a team that has become free, if there is none yet.
    void TakeIfAlone() {
      if (team_ == nullptr && teams_.threads_ > 1) team_ = teams_.Take();
    }

    ThreadPool& operator*() { return team_ != nullptr ? *team_ : teams_.alone_; }

   private:
    ThreadTeams& teams_;
    std::unique_ptr<ThreadPool> team_;
  };

 private:
  // Returns null if there is no team to take. Only a team that is taken while all others are in use
  // has to be started first.
  std::unique_ptr<ThreadPool> Take();
  void Return(std::unique_ptr<ThreadPool> team);

  const int threads_;
  const std::chrono::microseconds spin_;
  const int most_;
  const pid_t owner_ = getpid();  // a forked child has none of the threads
  ThreadPool alone_{1};
  std::mutex mutex_;  // guards free_ and made_
  std::vector<std::unique_ptr<ThreadPool>> free_;
  int made_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_THREAD_TEAMS_H_
