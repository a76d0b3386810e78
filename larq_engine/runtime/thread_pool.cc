#include "larq_engine/runtime/thread_pool.h"

#include <stdexcept>
#include <string>
#include <system_error>

#include "larq_engine/kernels/common/even_parts.h"
#include "larq_engine/runtime/await_change.h"

namespace larq_engine {
namespace {

constexpr uint32_t kOpen = uint32_t{1} << 31;

// Looks between two readings of the clock, which takes as long as one or two of them.
constexpr int kLooksAtOnce = 16;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads, std::chrono::microseconds spin)
    : spin_(spin), shares_(static_cast<size_t>(threads)) {
  workers_.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { WorkerLoop(worker); });
    }
  } catch (const std::system_error& e) {
    const size_t started = workers_.size() + 1;
    StopWorkers();
    throw std::runtime_error("larq_engine: expected to start " + std::to_string(threads) +
                             " threads, got " + std::to_string(started) + " (" + e.what() +
                             "); ask for fewer with num_threads");
  } catch (...) {
    StopWorkers();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  if (getpid() == owner_) {
    StopWorkers();
  } else {
    // A forked child has no threads to join, and a thread object that was not joined must not be
    // destroyed.
    new std::vector<Thread>(std::move(workers_));
  }
}

void ThreadPool::AwaitChange(const std::atomic<uint32_t>& value, uint32_t old) const {
  using Clock = std::chrono::steady_clock;
  if (spin_.count() > 0) {
    if (SeesChange(value, old)) return;
    const Clock::time_point end = Clock::now() + spin_;
    while (Clock::now() < end) {
      if (SeesChange(value, old)) return;
    }
  }
  SleepWhile(value, old);
}

bool ThreadPool::SeesChange(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int look = 0; look < kLooksAtOnce; ++look) {
    if (value.load(std::memory_order_acquire) != old) return true;
    Pause();
  }
  return false;
}

void ThreadPool::StopWorkers() {
  stop_.store(true, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_release);
  NotifyAll(epoch_);
  for (Thread& worker : workers_) worker.join();
}

void ThreadPool::Run(int64_t units, Work work, void* context) {
  if (workers_.empty() || units <= 1) {
    if (units > 0) work(context, 0, units, 0);
    return;
  }
  work_ = work;
  context_ = context;
  const EvenParts parts = {.pixels = units, .parts = static_cast<int64_t>(shares_.size())};
  for (size_t i = 0; i < shares_.size(); ++i) {
    const auto share = static_cast<int64_t>(i);
    shares_[i].next.store(parts.Begin(share), std::memory_order_relaxed);
    shares_[i].end = parts.Begin(share + 1);
  }
  entrants_.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_release);
  NotifyAll(epoch_);
  TakeUnits(0);
  // No unit is left to take: let nobody else in, wait for those who still compute.
  uint32_t inside = entrants_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (inside != 0) {
    AwaitChange(entrants_, inside);
    inside = entrants_.load(std::memory_order_acquire);
  }
}

void ThreadPool::TakeUnits(int worker) {
  for (size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[(static_cast<size_t>(worker) + i) % shares_.size()];
    for (;;) {
      const int64_t unit = share.next.fetch_add(1, std::memory_order_relaxed);
      if (unit >= share.end) break;
      work_(context_, unit, unit + 1, worker);
    }
  }
}

void ThreadPool::WorkerLoop(int worker) {
  uint32_t seen = 0;
  for (;;) {
    AwaitChange(epoch_, seen);
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_acquire)) return;
    uint32_t entrants = entrants_.load(std::memory_order_acquire);
    while (entrants & kOpen) {
      if (!entrants_.compare_exchange_weak(entrants, entrants + 1, std::memory_order_acq_rel)) {
        continue;
      }
      TakeUnits(worker);
      entrants_.fetch_sub(1, std::memory_order_release);
      NotifyAll(entrants_);
      break;
    }
  }
}

}  // namespace larq_engine
