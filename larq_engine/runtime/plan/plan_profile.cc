#include "larq_engine/runtime/plan/plan_profile.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

// Appends the rows of the part's operators, except for operators that others of the part absorbed.
void AppendPart(const ProfiledPlan& plan, size_t p, std::vector<StepProfile>& steps) {
  const Part& part = plan.schedule.parts[p];
  const size_t first = steps.size();
  plan.segments[p]->AppendProfile(steps);
  for (size_t i = 0; i < part.ops.size(); ++i) {
    StepProfile& step = steps[first + i];
    step.reason = plan.assignment.reasons[part.ops[i]];
    for (const auto& absorbed : plan.program.op(part.ops[i]).absorbed) {
      step.absorbed.push_back(absorbed->name.node);
    }
  }
  const auto begin = steps.begin() + static_cast<ptrdiff_t>(first);
  std::set<int> absorbed;  // nodes
  for (auto step = begin; step != steps.end(); ++step) {
    absorbed.insert(step->absorbed.begin(), step->absorbed.end());
  }
  const auto is_absorbed = [&](const StepProfile& step) { return absorbed.contains(step.node); };
  steps.erase(std::remove_if(begin, steps.end(), is_absorbed), steps.end());
}

}  // namespace

void PlanProfile::Reset(size_t actions) { copies_ = std::vector<ProfileCounter>(actions); }

void PlanProfile::Clear() {
  for (ProfileCounter& copy : copies_) copy.Clear();
}

void PlanProfile::Append(const ProfiledPlan& plan, std::vector<StepProfile>& steps) const {
  const size_t first = steps.size();
  for (size_t a = 0; a < plan.schedule.actions.size(); ++a) {
    const Action& action = plan.schedule.actions[a];
    if (action.kind == Action::kRun) {
      AppendPart(plan, action.part, steps);
    } else {
      steps.push_back(CopyRow(plan, a));
    }
  }
  for (size_t i = first; i < steps.size(); ++i) steps[i].subgraph = plan.subgraph;
}

// A copy is named after the operator on the device.
StepProfile PlanProfile::CopyRow(const ProfiledPlan& plan, size_t action) const {
  const Action& copied = plan.schedule.actions[action];
  const bool copies_in = copied.kind == Action::kCopyIn;
  const Value& value = plan.program.value(copied.value);
  const auto is_there = [&](size_t op) { return plan.assignment.device[op] == copied.device; };
  const size_t op = copies_in ? *std::find_if(value.readers.begin(), value.readers.end(), is_there)
                              : static_cast<size_t>(value.producer);
  return {.op = kTransfer,
          .name = value.name,
          .layer = plan.program.op(op).name.layer,
          .node = plan.program.op(op).name.node,
          .device = plan.executors[copies_in ? copied.device : kCpuDevice]->device(),
          .kernel = "",
          .calls = copies_[action].calls(),
          .total_ns = copies_[action].total_ns(),
          .bytes = value.bytes};
}

}  // namespace larq_engine
