// The interface between plans and devices. A device computes some operators of a program in its own
// memory.
#ifndef LARQ_ENGINE_RUNTIME_EXECUTOR_H_
#define LARQ_ENGINE_RUNTIME_EXECUTOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/ops/host_comparison.h"
#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/profile.h"
#include "larq_engine/runtime/run_event.h"

namespace larq_engine {

// Purposes of a device's memory.
enum class MemoryUse : uint8_t { kWeights, kActivations };

// A device's own memory, and the copies to it and from it. All plans of a delegate share one
// object, and may use it from several threads.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // Returns the bytes of all buffers of this use that exist now.
  size_t Held(MemoryUse use) const { return held_[static_cast<size_t>(use)]; }
  // Returns how many bytes of the host's memory serve as staging buffers of copies.
  virtual size_t StagingBytes() const { return 0; }
  // Allocates the staging buffers for copies of this size, so that runs allocate nothing. Throws
  // std::bad_alloc.
  virtual void ReserveStaging(size_t) {}

  // Returns memory that is aligned for all data that will lie in it. Throws std::bad_alloc.
  virtual std::byte* Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* memory) noexcept = 0;

  // Returns the expected time to copy this many bytes one way.
  virtual double Seconds(size_t bytes) const = 0;

  // Returns when all queued work is done or has failed. Plans call it before they free or change
  // what queued work may use: memory, segments and places.
  virtual void Wait() noexcept = 0;

  // Copies and runs of segments take effect in the order in which they are called. The data are in
  // `host` when CopyOut returns, and `host` may be overwritten when CopyIn returns. Both throw
  // OpError with the device's own error text.
  virtual void CopyIn(const std::byte* host, size_t bytes, std::byte* device) = 0;
  virtual void CopyOut(const std::byte* device, size_t bytes, std::byte* host) = 0;

  // Copies like CopyIn, but `host` must stay unchanged until the copy is waited for: a device that
  // can read it directly does so.
  virtual void CopyGiven(const std::byte* host, size_t bytes, std::byte* device) {
    CopyIn(host, bytes, device);
  }

  // Handle data that other code in the process has made in the device's memory. AwaitMade returns
  // when the data are complete, and throws OpError if their first or last byte is elsewhere.
  // CopyMade copies like CopyIn, but `made` must stay unchanged until the copy is waited for.
  virtual void AwaitMade(const std::byte* made, size_t bytes) = 0;
  virtual void CopyMade(const std::byte* made, size_t bytes, std::byte* device) = 0;

 private:
  friend class DeviceBuffer;
  std::array<std::atomic<size_t>, 2> held_{};  // indexed by MemoryUse
};

// A block of a device's memory. The DeviceMemory must outlive it.
class DeviceBuffer {
 public:
  DeviceBuffer(DeviceMemory& memory, MemoryUse use, size_t bytes)
      : memory_(memory),
        held_(memory.held_[static_cast<size_t>(use)]),
        data_(memory.Allocate(bytes)),
        bytes_(bytes) {
    held_ += bytes_;
  }
  ~DeviceBuffer() {
    memory_.Free(data_);
    held_ -= bytes_;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  DeviceMemory& memory_;
  std::atomic<size_t>& held_;
  std::byte* data_;
  size_t bytes_;
};

struct SegmentRun {
  // Addresses in the device's memory of the program's values that others than this segment use.
  std::span<std::byte* const> places;
  bool profiling;
  RunProfiler* profiler;  // may be null
};

// Operators that a device computes one after another without handing a value to another device in
// between. The program and `is_shared` that Compile got must outlive the segment.
class Segment {
 public:
  virtual ~Segment() = default;

  // Prepares for the program's current shapes. `host_threads` is the number of threads that the
  // host would use. Throws OpError.
  virtual void Resize(int host_threads) = 0;

  // Lets runs use at most so many of the CPU's threads from now on. Changes nothing if it throws.
  virtual void LimitThreads(int) {}

  // Allocates nothing, but for threads if other runs have all that there are. Throws OpError, whose
  // text names the operator if one is at fault.
  virtual void Run(const SegmentRun& run) = 0;

  virtual void ClearProfile() = 0;
  // Appends a row for each of the segment's operators, in their order.
  virtual void AppendProfile(std::vector<StepProfile>& steps) const = 0;
};

// All plans of a delegate share one executor, and may use it from several threads.
class Executor {
 public:
  virtual ~Executor() = default;

  // Returns the device's name in options and profiles. The text lives as long as the executor.
  virtual const char* device() const = 0;

  // Returns the reason why the device cannot compute the operator for the program's current shapes;
  // empty if it can.
  virtual std::string Refusal(const Program& program, const ProgramOp& op) const = 0;

  // Returns the expected time of each of `ops` for the program's current shapes, without transfers,
  // as if the device computed all of them; it can. `host_threads` is the number of threads that the
  // host would use.
  virtual std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                                      int host_threads) const = 0;

  // Compares the device with a host for an operator of the host whose form we compute.
  virtual HostComparison CompareWithHost(const KnownOp& row, const OpInfo& op) const = 0;

  // Prepares `ops` to run in this order. `is_shared` tells for each of the program's values whether
  // others than this segment use it, so that it has a place in SegmentRun. Throws OpError.
  virtual std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                           const std::vector<bool>& is_shared) = 0;

  // Returns null if the device computes in the host's memory.
  virtual DeviceMemory* memory() { return nullptr; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_EXECUTOR_H_
