// A set of operators that the host runs as one node. Prepare decides everything for a set of
// shapes: the devices (assign_program.h), the order (schedule.h) and the memory (layout.h). Invoke
// then only walks the schedule (plan_run.h).
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/layout.h"
#include "larq_engine/runtime/plan/plan_memory.h"
#include "larq_engine/runtime/plan/plan_profile.h"
#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/plan/schedule.h"

namespace larq_engine {

// The readers of an input of the host's main graph.
struct InputReaders {
  bool on_host = false;
  bool on_device = false;
  size_t bytes = 0;  // size of the input for the device's readers
};

class Plan {
 public:
  // `subgraph` is the number of the host's graph, whose nodes have their own numbers. If the host
  // does not tell it (-1), the plan is placed as one of the main graph.
  Plan(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph);
  ~Plan();

  // Makes the program (once, by `read`) and its segments, and sizes everything for the current
  // shapes of the host's tensors. Throws OpError, whose text names the operator.
  void Prepare(const std::function<Program()>& read, HostTensors& host, int host_threads);

  // Lets runs use at most so many of the CPU's threads from now on.
  void LimitThreads(int most);

  // Runs all segments. Allocates nothing. Throws OpError if the host has no memory for a tensor, or
  // a device fails.
  void Invoke(HostTensors& host, RunProfiler* profiler);

  // Adds this plan's readers of the tensor, as of the last Prepare.
  void AddReaders(int tensor, InputReaders& readers) const;

  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  bool IsOfMainGraph() const { return subgraph_ <= 0; }
  void WaitForDevices();
  void Load(const std::function<Program()>& read, bool absorb);
  void MakeSegments();
  void ReserveStaging();

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<const Placement> placement_;
  int subgraph_;
  Program program_;
  Assignment assignment_;
  Schedule schedule_;
  std::vector<std::vector<Lifetime>> lifetimes_;    // for each device
  std::vector<std::unique_ptr<Segment>> segments_;  // for each part of the schedule
  PlanMemory memory_;
  PlanProfile profile_;
  std::optional<int> most_threads_;
  bool prepared_ = false;  // for the current shapes of the host's tensors
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
