// Assigns operators to devices: a pure function of costs.
//
// It chooses between the CPU and one other device, because a least cut has two sides. A value is
// moved at most once in each direction, however many operators read it.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace larq_engine {

// The devices are kCpuDevice (devices.h) and this one, which has memory of its own.
inline constexpr size_t kOffloadDevice = 1;
inline constexpr size_t kAssignDevices = 2;

struct AssignValue {
  int producer;          // number of an operator, or -1 for the host
  bool host_reads;       // the value must end in the host's memory
  double seconds_there;  // time of a copy to kOffloadDevice
  double seconds_back;
};

struct AssignOp {
  std::vector<size_t> inputs;  // numbers of values
  size_t output;               // number of a value
  std::array<double, kAssignDevices> seconds;
  // The reason why the device cannot compute it; empty if it can.
  std::array<std::string, kAssignDevices> refusal;
};

struct Assignment {
  std::vector<size_t> device;        // for each operator
  std::vector<std::string> reasons;  // for each operator
  double seconds = 0;                // sum of all operators and transfers
};

// Returns the assignment that takes the least time in all; among equals, the one with the most
// operators on the CPU. Each operator must have a device that can compute it. `names` are the
// names of the devices.
Assignment Assign(std::span<const AssignOp> ops, std::span<const AssignValue> values,
                  const std::array<std::string, kAssignDevices>& names);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_
