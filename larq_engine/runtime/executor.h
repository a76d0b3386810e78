// What a device is to a plan: something that computes some operators of a program in its own
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

#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// What a device's memory is for.
enum class MemoryUse : uint8_t { kWeights, kActivations };

// A device's own memory, and the way there and back. One for all plans of a delegate, which may be
// in several threads.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // Bytes of the buffers that there are of it.
  size_t Held(MemoryUse use) const { return held_[static_cast<size_t>(use)]; }
  // Bytes of the host's memory that copies pass through.
  virtual size_t StagingBytes() const { return 0; }
  // Takes what copies of this size will pass through: runs allocate nothing. Throws std::bad_alloc.
  virtual void ReserveStaging(size_t) {}

  // Throws std::bad_alloc. Aligned for all that lies in it.
  virtual std::byte* Allocate(size_t bytes) = 0;
  virtual void Free(std::byte* memory) noexcept = 0;

  // What it is expected to take to copy as many bytes, one way.
  virtual double Seconds(size_t bytes) const = 0;

  // Until all that was queued is done or has failed. Plans call it before they give up or change
  // what queued work may look at: memory, segments and places.
  virtual void Wait() noexcept = 0;

  // In the order in which they and the runs of segments are called. What is copied out is there
  // when CopyOut returns; what is copied in may be overwritten when CopyIn returns. Both throw
  // OpError with what the device says.
  virtual void CopyIn(const std::byte* host, size_t bytes, std::byte* device) = 0;
  virtual void CopyOut(const std::byte* device, size_t bytes, std::byte* host) = 0;

  // As CopyIn, of data that stay as they are until the copy is waited for: the device reads them by
  // itself where it can.
  virtual void CopyGiven(const std::byte* host, size_t bytes, std::byte* device) {
    CopyIn(host, bytes, device);
  }

  // For data that others in the process have made in the device's memory. AwaitMade returns when
  // they are there, and throws OpError if their first or last byte is elsewhere; CopyMade is as
  // CopyIn, but `made` must stay as it is until the copy is waited for.
  virtual void AwaitMade(const std::byte* made, size_t bytes) = 0;
  virtual void CopyMade(const std::byte* made, size_t bytes, std::byte* device) = 0;

 private:
  friend class DeviceBuffer;
  std::array<std::atomic<size_t>, 2> held_{};  // by MemoryUse
};

// A block of a device's memory, which outlives it.
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
  // Where the program's values lie that are not the segment's alone, in the device's memory.
  std::span<std::byte* const> places;
  bool profiling;
  void* host_profiler;  // may be null
};

// Operators that a device computes one after another without handing anything to others. Its
// program and `is_shared` outlive it.
class Segment {
 public:
  virtual ~Segment() = default;

  // For the shapes that the program has now. `host_threads` is what the host would use. Throws
  // OpError.
  virtual void Resize(int host_threads) = 0;

  // Throws OpError, whose text names the operator where one is at fault. Allocates nothing.
  virtual void Run(const SegmentRun& run) = 0;

  virtual void ClearProfile() = 0;
  // A row for each of its operators, in their order.
  virtual void AppendProfile(std::vector<StepProfile>& steps) const = 0;
};

// One for all plans of a delegate, which may be in several threads.
class Executor {
 public:
  virtual ~Executor() = default;

  // As options and profiles name it; lasting.
  virtual const char* device() const = 0;

  // Why the device cannot compute the operator for the shapes that the program has now; empty where
  // it can.
  virtual std::string Refusal(const Program& program, const ProgramOp& op) const = 0;

  // What it is expected to take for the shapes that the program has now, transfers apart.
  // `host_threads` is what the host would use.
  virtual double Seconds(const Program& program, const ProgramOp& op, int host_threads) const = 0;

  // Whether it computes such a layer sooner than a host with weights that are unpacked.
  virtual bool ReadsBitsFaster(const SignedDenseSize&) const { return false; }
  // Whether it computes such a convolution sooner than a host.
  virtual bool ConvolvesFaster(const Int8Conv2dSpec&) const { return false; }
  // Whether it computes convolutions of floats as soon as a host.
  virtual bool ConvolvesFloats() const { return false; }

  // `ops` in order; `is_shared` tells of each of the program's values whether it is not one
  // segment's alone, and has a place in SegmentRun. Throws OpError.
  virtual std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                           const std::vector<bool>& is_shared) = 0;

  // Null where it is the host's.
  virtual DeviceMemory* memory() { return nullptr; }
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_EXECUTOR_H_
