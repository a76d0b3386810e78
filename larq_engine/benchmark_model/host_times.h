// The time of each of the host's operators, derived from what LiteRT's profiler reports.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_TIMES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_TIMES_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "larq_engine/benchmark_model/host_plan.h"
#include "larq_engine/benchmark_model/operator_names.h"

namespace larq_engine {

// An entry of LiteRT's profiler for the main graph. The host's own operators and XNNPACK's steps
// come in the order of execution.
struct HostEntry {
  bool is_xnnpacks = false;
  uint64_t number = 0;    // the node; for XNNPACK, the step within a piece that it computes
  std::string name = {};  // name of XNNPACK's step
  uint64_t microseconds = 0;
};

// An operator that the host computes.
struct HostOpTimes {
  int node = 0;
  std::string source = {};           // empty if the times were measured for this operator itself
  std::vector<double> seconds = {};  // one for each run
};

// Collects the times of one run after the other. XNNPACK reports steps of its own, in the order of
// the operators. An operator may take several steps, or none if another operator's step does its
// work. A step belongs to the operator that its name fits; other steps belong to the operator
// before them.
class HostTimes {
 public:
  // `names` are the names of the main graph's nodes.
  HostTimes(std::vector<HostPlanStep> plan, std::vector<OperatorNames> names)
      : plan_(std::move(plan)), names_(std::move(names)) {}

  // Throws ModelError if the entries are not those of the plan.
  void AddRun(std::span<const HostEntry> entries);

  // Returns the operators in the order of execution.
  const std::vector<HostOpTimes>& ops() const { return ops_; }

 private:
  void AddOps(const HostPlanStep& part, std::span<const HostEntry> entries);

  std::vector<HostPlanStep> plan_;
  std::vector<OperatorNames> names_;
  std::vector<HostOpTimes> ops_;
  std::vector<size_t> counts_;  // entries of each operator, the same in all runs
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_TIMES_H_
