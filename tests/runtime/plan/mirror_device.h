// A second device, for tests of plans with two devices. It has its own memory, copies in and out, a
// queue that runs jobs later and in order, and the portable kernels.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_PLAN_MIRROR_DEVICE_H_
#define LARQ_ENGINE_TESTS_RUNTIME_PLAN_MIRROR_DEVICE_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "larq_engine/runtime/executor.h"
#include "tests/common/guarded_pages.h"

namespace larq_engine::testing {

// Does `work`, and takes at least this many seconds. With 0, it takes only the time of `work`.
void TakeAtLeast(double seconds, const std::function<void()>& work);

// Runs jobs in order on a thread of its own. After the first job that throws, no job runs any more.
class MirrorQueue {
 public:
  MirrorQueue();
  ~MirrorQueue();

  void Add(std::function<void()> job);
  void Wait();  // returns when all are done; throws what a job has thrown

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::exception_ptr error_;
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

// Memory that hosts cannot reach by accident: each block ends at the beginning of a page that
// nobody may touch.
class MirrorMemory : public DeviceMemory {
 public:
  explicit MirrorMemory(MirrorQueue& queue) : queue_(queue) {}
  ~MirrorMemory() override;

  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* memory) noexcept override;
  double Seconds(size_t bytes) const override { return latency + seconds_per_byte * double(bytes); }
  void Wait() noexcept override;
  void CopyIn(const std::byte* host, size_t bytes, std::byte* device) override;
  void CopyOut(const std::byte* device, size_t bytes, std::byte* host) override;
  void AwaitMade(const std::byte* made, size_t bytes) override { CheckIsOwn(made, bytes); }
  void CopyMade(const std::byte* made, size_t bytes, std::byte* device) override;

  double latency = 0;  // seconds
  double seconds_per_byte = 0;
  bool slow = false;                                          // copies take as long as Seconds says
  std::function<void(const std::string& direction)> on_copy;  // "in" or "out"
  std::atomic<uint64_t> copied_in = 0;
  std::atomic<uint64_t> copied_out = 0;

 private:
  void CheckIsOwn(const std::byte* memory, size_t bytes) const;
  void Move(const std::byte* from, size_t bytes, std::byte* to) const;

  struct Block {
    std::byte* begin;
    size_t bytes;
    std::unique_ptr<testing::GuardedPages> pages;
  };
  MirrorQueue& queue_;
  mutable std::mutex mutex_;  // guards blocks_
  std::vector<Block> blocks_;
};

class MirrorExecutor : public Executor {
 public:
  MirrorExecutor() : memory_(queue_) {}

  const char* device() const override { return "mirror"; }
  std::string Refusal(const Program& program, const ProgramOp& op) const override;
  std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                              int host_threads) const override;
  HostComparison CompareWithHost(const KnownOp& row, const OpInfo&) const override {
    return row.form == OpForm::kInt8 ? HostComparison::kCannot : HostComparison::kAsFast;
  }
  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override;
  MirrorMemory* memory() override { return &memory_; }
  MirrorQueue& queue() { return queue_; }

  std::function<double(const ProgramOp&)> seconds;  // returned by Seconds; if empty, 0
  bool shares_launches = false;  // an operator takes no time if its producer is on the device, too
  bool slow = false;             // operators take as long as Seconds says
  // Returned by Refusal; if empty, nothing is refused.
  std::function<std::string(const Program&, const ProgramOp&)> refusal;
  int runs_until_failure = -1;  // counts operators; below 0: none fails

 private:
  MirrorQueue queue_;
  MirrorMemory memory_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_PLAN_MIRROR_DEVICE_H_
