#include "tests/runtime/plan/assign_oracle.h"

#include <algorithm>
#include <limits>

namespace larq_engine::testing {

std::vector<AssignTransfer> TransfersOf(const AssignProblem& problem,
                                        const std::vector<size_t>& device) {
  std::vector<AssignTransfer> transfers;
  for (size_t v = 0; v < problem.values.size(); ++v) {
    const AssignValue& value = problem.values[v];
    bool read_on[2] = {value.host_reads, false};
    for (size_t i = 0; i < problem.ops.size(); ++i) {
      const std::vector<size_t>& inputs = problem.ops[i].inputs;
      if (std::find(inputs.begin(), inputs.end(), v) != inputs.end()) read_on[device[i]] = true;
    }
    const size_t home = value.producer < 0 ? 0 : device[static_cast<size_t>(value.producer)];
    if (read_on[1 - home]) transfers.push_back({v, 1 - home});
  }
  return transfers;
}

double SecondsOf(const AssignProblem& problem, const std::vector<size_t>& device) {
  double seconds = 0;
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const AssignOp& op = problem.ops[i];
    seconds += op.refusal[device[i]].empty() ? op.seconds[device[i]]
                                             : std::numeric_limits<double>::infinity();
  }
  for (const AssignTransfer& transfer : TransfersOf(problem, device)) {
    const AssignValue& value = problem.values[transfer.value];
    seconds += transfer.device == 1 ? value.seconds_there : value.seconds_back;
  }
  return seconds;
}

std::vector<size_t> BestOfAll(const AssignProblem& problem) {
  std::vector<size_t> best(problem.ops.size(), 0);
  const auto count_there = [](const std::vector<size_t>& device) {
    return std::count(device.begin(), device.end(), size_t{1});
  };
  double best_seconds = SecondsOf(problem, best);
  for (size_t set = 0; set < size_t{1} << problem.ops.size(); ++set) {
    std::vector<size_t> device;
    for (size_t i = 0; i < problem.ops.size(); ++i) device.push_back(set >> i & 1);
    const double seconds = SecondsOf(problem, device);
    if (seconds < best_seconds ||
        (seconds == best_seconds && count_there(device) < count_there(best))) {
      best = device;
      best_seconds = seconds;
    }
  }
  return best;
}

}  // namespace larq_engine::testing
