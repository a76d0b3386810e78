// Copies within the host's memory. Several threads make the large ones, because one core copies
// more slowly than a GPU reads.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>

#include "larq_engine/runtime/thread_teams.h"

namespace larq_engine {

class HostCopies {
 public:
  // `threads` includes the caller. The other threads are started when a large copy is made or
  // reserved.
  HostCopies(int threads, std::chrono::microseconds spin) : thread_count_(threads), spin_(spin) {}

  // Returns how many threads make a copy of `bytes` bytes, if the system can start them.
  int ThreadsOf(size_t bytes) const;
  // Starts the threads that a copy of `bytes` bytes needs, so that no copy has to start them,
  // unless runs and other copies have all that there are.
  void Reserve(size_t bytes);
  // Copies the bytes. Several threads may call it at the same time.
  void Copy(const std::byte* from, size_t bytes, std::byte* to);

 private:
  // Returns the threads that copy `bytes` bytes, or null if the caller copies them without help:
  // because they are few, or because the system refused to start threads, which only save time.
  ThreadTeams* TeamsFor(size_t bytes);

  int thread_count_;
  std::chrono::microseconds spin_;
  std::mutex mutex_;  // guards what follows
  std::shared_ptr<ThreadTeams> teams_;
  bool is_refused_ = false;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_
