// Which device computes which operator: a pure function of costs.
//
// There are two devices: number 0 works in the host's memory, number 1 in its own. Each value is
// moved at most once in each direction, however many read it.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace larq_engine {

struct AssignValue {
  int maker;             // an operator, or -1 for the host
  bool host_reads;       // it must end in the host's memory
  double seconds_there;  // to device 1
  double seconds_back;
};

struct AssignOp {
  std::vector<size_t> inputs;  // values
  size_t output;               // value
  std::array<double, 2> seconds;
  std::array<std::string, 2> refusal;  // why the device cannot compute it; empty where it can
};

struct Assignment {
  std::vector<size_t> device;        // of each operator
  std::vector<std::string> reasons;  // of each operator
  double seconds = 0;                // all operators and transfers, one after the other
};

// The assignment of least time in all; of several such the one with most on device 0. Each
// operator has a device that can compute it. `names` are those of the devices.
Assignment Assign(std::span<const AssignOp> ops, std::span<const AssignValue> values,
                  const std::array<std::string, 2>& names);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ASSIGN_H_
