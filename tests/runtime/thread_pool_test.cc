#include "larq_engine/runtime/thread_pool.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

// Counts how often each unit was computed, and which workers took part.
struct Tally {
  explicit Tally(int64_t units) : counts(static_cast<size_t>(units)) {}
  static void Work(void* context, int64_t first, int64_t last, int worker) {
    auto* tally = static_cast<Tally*>(context);
    for (int64_t i = first; i < last; ++i) tally->counts[static_cast<size_t>(i)].fetch_add(1);
    tally->largest_worker = std::max(tally->largest_worker.load(), worker);
  }
  std::vector<std::atomic<int>> counts;
  std::atomic<int> largest_worker{0};
};

void ExpectEachUnitOnce(ThreadPool& pool, int64_t units) {
  Tally tally(units);
  pool.Run(units, Tally::Work, &tally);
  for (int64_t i = 0; i < units; ++i) {
    ASSERT_EQ(tally.counts[static_cast<size_t>(i)], 1) << "unit " << i << " of " << units;
  }
  EXPECT_LT(tally.largest_worker, pool.threads());
}

TEST(ThreadPool, EachUnitOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t units : {0, 1, 2, 7, 64, 1000}) ExpectEachUnitOnce(pool, units);
  }
}

TEST(ThreadPool, ManySmallJobsInARow) {
  ThreadPool pool(4);
  for (int job = 0; job < 5000; ++job) ExpectEachUnitOnce(pool, 1 + job % 9);
}

TEST(ThreadPool, WorkersWakeAfterSleeping) {
  for (const int spin : {0, 20, 3000}) {
    ThreadPool pool(2, std::chrono::microseconds(spin));
    for (int job = 0; job < 20; ++job) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ExpectEachUnitOnce(pool, 100);
    }
  }
}

TEST(ThreadPool, AWorkerReallyHelps) {
  ThreadPool pool(2);
  // Each of two units waits until the other has begun, so only two threads can finish them.
  std::atomic<int> begun{0};
  pool.Run(
      2,
      [](void* context, int64_t, int64_t, int) {
        auto* count = static_cast<std::atomic<int>*>(context);
        count->fetch_add(1);
        while (count->load() < 2) std::this_thread::yield();
      },
      &begun);
  EXPECT_EQ(begun, 2);
}

// Waits for other threads. Returns false once they are so late that they will never come.
template <typename Condition>
bool Await(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(ThreadPool, OthersComputeTheRestOfAShare) {
  struct Job {
    int64_t units;
    std::atomic<int64_t> others{0};
    std::atomic<bool> late{false};
  };
  for (int threads : {2, 4}) {
    ThreadPool pool(threads);
    // Unit 0 waits for all others, among them those that follow it in its own share.
    Job job{.units = 3 * threads + 1};
    pool.Run(
        job.units,
        [](void* context, int64_t first, int64_t last, int) {
          auto& job = *static_cast<Job*>(context);
          for (int64_t unit = first; unit < last; ++unit) {
            if (unit > 0) {
              job.others.fetch_add(1);
            } else if (!Await([&] { return job.others == job.units - 1; })) {
              job.late = true;
            }
          }
        },
        &job);
    EXPECT_FALSE(job.late) << threads << " threads, " << job.others << " units beside unit 0";
  }
}

TEST(ThreadPool, EachWorkerBeginsWithItsOwnShare) {
  struct Job {
    explicit Job(int threads) : firsts(static_cast<size_t>(threads), -1) {}
    std::vector<int64_t> firsts;  // for each worker, which alone writes its own
    std::atomic<size_t> begun{0};
    std::atomic<bool> late{false};
  };
  for (int threads : {2, 3, 4}) {
    ThreadPool pool(threads);
    for (int64_t units : {threads, 2 * threads + 1, 10 * threads - 1}) {
      // Nobody helps others before all workers have begun.
      Job job(threads);
      pool.Run(
          units,
          [](void* context, int64_t first, int64_t, int worker) {
            auto& job = *static_cast<Job*>(context);
            int64_t& mine = job.firsts[static_cast<size_t>(worker)];
            if (mine >= 0) return;
            mine = first;
            job.begun.fetch_add(1);
            if (!Await([&] { return job.begun == job.firsts.size(); })) job.late = true;
          },
          &job);
      ASSERT_FALSE(job.late) << threads << " threads, of which " << job.begun << " began";
      for (int64_t i = 0; i < threads; ++i) {
        // The first shares get one each of the units that are left over.
        EXPECT_EQ(job.firsts[static_cast<size_t>(i)],
                  units / threads * i + std::min(i, units % threads))
            << "worker " << i << " of " << threads << ", " << units << " units";
      }
    }
  }
}

#if !defined(_WIN32)                                                 // there is no fork
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // these need terabytes
// The address space holds some stacks, but not 255.
constexpr size_t kLittleMemory = 512u << 20;
void LimitMemory() {
  const rlimit limit = {kLittleMemory, kLittleMemory};
  setrlimit(RLIMIT_AS, &limit);
}

// Tells whether the system enforces a process's limit. QEMU's user emulation does not, because the
// emulator itself needs address space.
bool LimitsHold() {
  const pid_t child = fork();
  if (child == 0) {
    LimitMemory();
    const void* block = mmap(nullptr, kLittleMemory + 1, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    _exit(block == MAP_FAILED ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

// Ends the process with status 7 and the message, or with 0 if there was no error.
void StartThreadsInLittleMemory() {
  LimitMemory();
  try {
    ThreadPool pool(256);
  } catch (const std::runtime_error& e) {
    std::fputs(e.what(), stderr);
    _exit(7);
  }
  _exit(0);
}

TEST(ThreadPool, ThreadsThatTheSystemRefusesAreAnError) {
  if (!LimitsHold()) {
    GTEST_SKIP() << "the system gives a process more address space than its RLIMIT_AS";
  }
  EXPECT_EXIT(StartThreadsInLittleMemory(), ::testing::ExitedWithCode(7),
              "expected to start 256 threads, got [0-9]+ .*; ask for fewer with num_threads");
}
#endif

// Sanitizers do not follow a forked child, or wait in it: see delegate_test.cc.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(ThreadPool, AForkedChildComputesAlone) {
  auto pool = std::make_unique<ThreadPool>(4);
  ExpectEachUnitOnce(*pool, 100);
  const pid_t child = fork();
  if (child == 0) {
    // The child has no workers. It must neither hang nor leave out units.
    Tally tally(100);
    pool->Run(100, Tally::Work, &tally);
    pool.reset();
    for (const auto& count : tally.counts) {
      if (count != 1) _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif
#endif

}  // namespace
}  // namespace larq_engine
