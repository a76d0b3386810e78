// The times of a plan's copies, and the rows of its profile.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_PROFILE_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_PROFILE_H_

#include <memory>
#include <span>
#include <vector>

#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/plan/schedule.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// The parts of a plan that its profile tells of.
struct ProfiledPlan {
  const Program& program;
  const Assignment& assignment;
  const Schedule& schedule;
  std::span<const std::unique_ptr<Segment>> segments;
  std::span<const std::unique_ptr<Executor>> executors;
  int subgraph;
};

class PlanProfile {
 public:
  // Forgets all times, because a new schedule has this many actions.
  void Reset(size_t actions);
  void Clear();

  // Makes the copy of action `action`, and adds its time unless it throws.
  template <typename Copy>
  void TimeCopy(size_t action, const Copy& copy) {
    const ProfileClock::time_point start = ProfileClock::now();
    copy();
    copies_[action].Add(NanosecondsSince(start));
  }

  // Appends a row for each operator and copy, in the order of actions.
  void Append(const ProfiledPlan& plan, std::vector<StepProfile>& steps) const;

 private:
  StepProfile CopyRow(const ProfiledPlan& plan, size_t action) const;

  std::vector<ProfileCounter> copies_;  // for each action; only copies use theirs
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_PROFILE_H_
