#include "larq_engine/runtime/cpu/segment_profile.h"

#include <algorithm>
#include <map>
#include <string>

#include "larq_engine/runtime/run_event.h"

namespace larq_engine {
namespace {

// Number of units whose steps are timed, to share a group's time among its steps. Reading the clock
// around each step of each unit made a network of 114 small steps a tenth slower.
constexpr int64_t kTimedUnits = 32;

// Returns the operator of the group's first step.
size_t FirstOp(const ProfiledSegment& segment, const StepGroup& group) {
  return segment.list.steps[group.steps[0]].op;
}

// Returns the place of each operator in the segment.
std::map<size_t, size_t> NumberOps(std::span<const size_t> ops) {
  std::map<size_t, size_t> numbers;
  for (size_t i = 0; i < ops.size(); ++i) numbers[ops[i]] = i;
  return numbers;
}

}  // namespace

void StepTimes::Resize(size_t steps, int workers) {
  steps_ = steps;
  ns_.assign(static_cast<size_t>(workers) * steps, 0);
}

void StepTimes::Begin(int64_t units) {
  std::fill(ns_.begin(), ns_.end(), 0);
  timed_every_ = std::max<int64_t>(1, units / kTimedUnits);
}

double StepTimes::Spent(size_t step) const {
  double spent = 0;
  for (size_t at = step; at < ns_.size(); at += steps_) spent += static_cast<double>(ns_[at]);
  return spent;
}

void SegmentProfile::Resize(const ProfiledSegment& segment, int threads) {
  const std::map<size_t, size_t> numbers = NumberOps(segment.ops);
  counters_of_.clear();
  units_.clear();
  size_t largest_group = 0;
  for (const StepGroup& group : segment.layout.groups) {
    std::vector<size_t>& counters = counters_of_.emplace_back();
    for (size_t step : group.steps) counters.push_back(numbers.at(segment.list.steps[step].op));
    units_.push_back(group.tiling.units());
    largest_group = std::max(largest_group, group.steps.size());
  }
  times_.Resize(largest_group, threads);
}

void SegmentProfile::Clear() {
  for (ProfileCounter& counter : counters_) counter.Clear();
}

void SegmentProfile::AddCall() {
  for (ProfileCounter& counter : counters_) counter.AddCall();
}

// Shares the time among the group's steps in proportion to the time that workers spent in each.
void SegmentProfile::AddTime(size_t group, uint64_t ns) {
  const std::vector<size_t>& counters = counters_of_[group];
  if (counters.size() == 1) return counters_[counters[0]].AddTime(ns);
  double all = 0;
  for (size_t i = 0; i < counters.size(); ++i) all += times_.Spent(i);
  for (size_t i = 0; i < counters.size(); ++i) {
    const double share =
        all > 0 ? times_.Spent(i) / all : 1.0 / static_cast<double>(counters.size());
    counters_[counters[i]].AddTime(static_cast<uint64_t>(static_cast<double>(ns) * share));
  }
}

void SegmentProfile::Append(const ProfiledSegment& segment, std::vector<StepProfile>& steps) const {
  const std::map<size_t, std::vector<size_t>> absorbed_by = FindAbsorbed(segment.list);
  std::map<size_t, std::string> kernels;  // for each operator that a step computes
  for (size_t i = 0; i < segment.steps.size(); ++i) {
    kernels[segment.list.steps[i].op] = segment.steps[i].step->kernel();
  }
  std::map<size_t, int> groups;
  for (const StepGroup& group : segment.layout.groups) {
    for (size_t step : group.steps) {
      groups[segment.list.steps[step].op] = segment.program.op(FirstOp(segment, group)).name.node;
    }
  }
  const auto macs = [&](size_t op) {
    const ProgramOp& counted = segment.program.op(op);
    return Macs(*counted.op, segment.program.InputShapes(counted),
                segment.program.value(counted.output).shape);
  };
  for (size_t i = 0; i < segment.ops.size(); ++i) {
    const size_t index = segment.ops[i];
    const ProgramOp& op = segment.program.op(index);
    StepProfile& row = steps.emplace_back(
        StepProfile{.op = op.name.kind,
                    .name = segment.program.value(op.output).name,
                    .layer = op.name.layer,
                    .node = op.name.node,
                    .device = segment.device,
                    .kernel = kernels[index],
                    .calls = counters_[i].calls(),
                    .total_ns = counters_[i].total_ns(),
                    .macs = macs(index),
                    .group = groups.try_emplace(index, op.name.node).first->second});
    const auto absorbed = absorbed_by.find(index);
    if (absorbed == absorbed_by.end()) continue;
    for (size_t other : absorbed->second) {
      row.absorbed_macs = AddProducts(row.absorbed_macs, macs(other));
      const int node = segment.program.op(other).name.node;  // one node may be several operators
      if (row.absorbed.empty() || row.absorbed.back() != node) row.absorbed.push_back(node);
    }
  }
}

std::vector<GroupEvent> NameGroups(const ProfiledSegment& segment) {
  const std::map<size_t, std::vector<size_t>> absorbed_by = FindAbsorbed(segment.list);
  const auto names_of = [&](size_t index) {
    const ProgramOp& op = segment.program.op(index);
    std::string names(op.name.kind);
    const auto absorbed = absorbed_by.find(index);
    if (absorbed == absorbed_by.end()) return names;
    const bool comes_last = std::holds_alternative<MaxPool2dOp>(*op.op);
    for (size_t other : absorbed->second) {
      const std::string name(segment.program.op(other).name.kind);
      names = comes_last ? name + "+" + names : names + "+" + name;
    }
    return names;
  };
  std::vector<GroupEvent> events;
  for (const StepGroup& group : segment.layout.groups) {
    std::string names;
    for (size_t step : group.steps) {
      names += (names.empty() ? "" : "+") + names_of(segment.list.steps[step].op);
    }
    events.push_back({.node = segment.program.op(FirstOp(segment, group)).name.node,
                      .name = LastingName(names)});
  }
  return events;
}

}  // namespace larq_engine
