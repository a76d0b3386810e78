// What each of the host's operators takes, out of what LiteRT's profiler says.
#ifndef BENCHMARKS_MODEL_HOST_TIMES_H_
#define BENCHMARKS_MODEL_HOST_TIMES_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/model/host_plan.h"
#include "benchmarks/model/operator_names.h"

namespace larq_engine {

// An entry of LiteRT's profiler, of the main graph. The host's own operators and XNNPACK's steps
// come in the order of execution.
struct HostEntry {
  bool is_xnnpacks = false;
  uint64_t number = 0;    // the node; of XNNPACK the step in what it computes in one piece
  std::string name = {};  // of XNNPACK's step
  uint64_t microseconds = 0;
};

// An operator that the host computes.
struct HostOpTimes {
  int node = 0;
  std::string source = {};           // empty if they were measured as the operator's
  std::vector<double> seconds = {};  // one for each run
};

// Of one run after the other. XNNPACK reports steps of its own, in the order of the operators: an
// operator may take several, or none where another's step does its work. Steps find their operators
// by name, others stay with the operator before them.
class HostTimes {
 public:
  // `names` are those of the main graph's nodes.
  HostTimes(std::vector<HostPlanStep> plan, std::vector<OperatorNames> names)
      : plan_(std::move(plan)), names_(std::move(names)) {}

  // Throws ModelError if the entries are not those of the plan.
  void AddRun(std::span<const HostEntry> entries);

  // In the order of execution.
  const std::vector<HostOpTimes>& ops() const { return ops_; }

 private:
  void AddOps(const HostPlanStep& part, std::span<const HostEntry> entries);

  std::vector<HostPlanStep> plan_;
  std::vector<OperatorNames> names_;
  std::vector<HostOpTimes> ops_;
  std::vector<size_t> counts_;  // of the entries of each; those of all runs are alike
};

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_HOST_TIMES_H_
