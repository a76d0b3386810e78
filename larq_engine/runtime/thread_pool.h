// Fork and join over the units of one step. The caller works too; workers that are still asleep
// when the work is gone are not waited for, so a small step costs one wake-up call and no more.
#ifndef LARQ_ENGINE_RUNTIME_THREAD_POOL_H_
#define LARQ_ENGINE_RUNTIME_THREAD_POOL_H_

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#if defined(__wasm_atomics__)
#include "larq_engine/runtime/wasm_thread.h"
#else
#include <thread>
#endif

namespace larq_engine {

#if defined(__wasm_atomics__)
using Thread = WasmThread;
#else
using Thread = std::thread;
#endif

// The time that threads look for work before they sleep. Guess: about the gap that a float operator
// of a host leaves between two of our steps.
inline constexpr std::chrono::microseconds kDefaultSpin(20);

class ThreadPool {
 public:
  // `threads` counts the caller; 1 starts none. Throws std::runtime_error if the system refuses.
  explicit ThreadPool(int threads, std::chrono::microseconds spin = kDefaultSpin);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Computes units [first, last) as worker 0 .. threads() - 1; must not throw.
  using Work = void (*)(void* context, int64_t first, int64_t last, int worker);

  // Covers [0, units) and returns when all is done. One thread may call it at a time, unless the
  // pool is of one thread.
  void Run(int64_t units, Work work, void* context);

 private:
  // Return once `value` differs from `old`; SeesChange gives up after some looks.
  void AwaitChange(const std::atomic<uint32_t>& value, uint32_t old) const;
  static bool SeesChange(const std::atomic<uint32_t>& value, uint32_t old);
  void StopWorkers();
  void WorkerLoop(int worker);
  void TakeUnits(int worker);

  const std::chrono::microseconds spin_;
  std::vector<Thread> workers_;
  const pid_t owner_ = getpid();  // a forked child has the pool but none of its threads

  // The job. It is written while workers may not enter it, and read by those that have entered.
  Work work_ = nullptr;
  void* context_ = nullptr;

  // Each worker begins with its own share of the units, the same in each step, so that it finds in
  // its cache what it wrote. Then it helps with the other shares.
  struct alignas(64) Share {  // a cache line each
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Share> shares_;  // one for each thread

  std::atomic<uint32_t> entrants_{0};  // workers inside the job, plus kOpen while they may enter
  std::atomic<uint32_t> epoch_{0};     // counts jobs; workers sleep on it
  std::atomic<bool> stop_{false};
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_THREAD_POOL_H_
