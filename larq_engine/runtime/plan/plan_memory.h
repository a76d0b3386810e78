// The memory of the values that pass between a plan's parts, and their addresses in a run.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_MEMORY_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/layout.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

class PlanMemory {
 public:
  explicit PlanMemory(std::span<const std::unique_ptr<Executor>> executors)
      : executors_(executors), devices_(executors.size()) {}

  // Forgets the program's constants, because another program comes.
  void DropConstants();

  // Places the program's values for its current shapes; `lifetimes` are those of its schedule.
  void Place(const Program& program, std::span<const std::vector<Lifetime>> lifetimes);
  // Copies constants to the devices that read them, once; `device_of` has each operator's device.
  // Throws OpError if the host has no memory for one.
  void PlaceConstants(const Program& program, std::span<const size_t> device_of,
                      const HostTensors& host);

  // Finds the host's tensors for this run. Throws OpError if the host has no memory for one.
  void FindHostTensors(const Program& program, const HostTensors& host);

  // Returns the address of each value in the device's memory.
  std::span<std::byte* const> Addresses(size_t device) const { return devices_[device].addresses; }

 private:
  struct OnDevice {
    std::vector<std::byte*> addresses;    // of each value
    std::unique_ptr<DeviceBuffer> arena;  // null on the CPU
    // The file's data of each value that the device reads and that is constant.
    std::vector<std::unique_ptr<DeviceBuffer>> constants;
  };

  std::span<const std::unique_ptr<Executor>> executors_;
  std::vector<OnDevice> devices_;
  AlignedBuffer<std::byte> cpu_arena_;
  std::vector<size_t> host_values_;  // values that live in the host's tensors
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_MEMORY_H_
