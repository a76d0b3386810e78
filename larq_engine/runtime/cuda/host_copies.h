// Copies from memory of the host to memory of the host, large ones by several threads: one core
// copies more slowly than a GPU reads.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_

#include <cstddef>
#include <memory>
#include <mutex>

#include "larq_engine/runtime/thread_pool.h"

namespace larq_engine {

class HostCopies {
 public:
  // `threads` counts the caller. They are started when a large copy is made or reserved.
  explicit HostCopies(int threads) : thread_count_(threads) {}

  // How many threads make a copy of as many bytes, if the system starts them.
  int ThreadsOf(size_t bytes) const;
  // Copies of as many bytes start no threads from now on.
  void Reserve(size_t bytes);
  // May be called by several threads: they take turns.
  void Copy(const std::byte* from, size_t bytes, std::byte* to);

 private:
  // Null where a copy of as many bytes is the caller's alone, or the system refused to start
  // threads: they only save time.
  ThreadPool* ThreadsFor(size_t bytes);

  int thread_count_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<ThreadPool> threads_;
  bool is_refused_ = false;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_HOST_COPIES_H_
