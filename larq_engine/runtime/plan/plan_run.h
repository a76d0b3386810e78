// A run of a plan: walks the actions of its schedule. All decisions were made before.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_RUN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_RUN_H_

#include <memory>
#include <span>

#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/plan_memory.h"
#include "larq_engine/runtime/plan/plan_profile.h"
#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/plan/schedule.h"

namespace larq_engine {

struct PlanRun {
  const Engine& engine;
  const Program& program;
  const Schedule& schedule;
  std::span<const std::unique_ptr<Segment>> segments;  // for each part
  const PlanMemory& memory;
  bool reads_given_inputs;  // the plan is one of the main graph, whose inputs may be given
  RunProfiler* profiler;    // may be null
};

// Copies and runs segments in the order of the schedule. `profile` observes the copies; it is null
// while nothing is timed. Allocates nothing. Throws OpError if a device fails.
void RunPlan(const PlanRun& run, PlanProfile* profile);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_RUN_H_
