// The times of a segment's operators, the rows of its profile, and names for the host's profiler.
#ifndef LARQ_ENGINE_RUNTIME_CPU_SEGMENT_PROFILE_H_
#define LARQ_ENGINE_RUNTIME_CPU_SEGMENT_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "larq_engine/runtime/cpu/segment_layout.h"
#include "larq_engine/runtime/cpu/segment_steps.h"
#include "larq_engine/runtime/cpu/step_list.h"
#include "larq_engine/runtime/plan/program.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// Adds up the time that each worker spends in each step of a group, in some of the group's units.
// Workers may call Time at the same time.
class StepTimes {
 public:
  void Resize(size_t steps, int workers);
  // Forgets all times, because a group with this many units begins.
  void Begin(int64_t units);

  bool IsTimed(int64_t unit) const { return unit % timed_every_ == 0; }
  template <typename Work>
  void Time(int worker, size_t step, const Work& work) {
    const ProfileClock::time_point start = ProfileClock::now();
    work();
    ns_[static_cast<size_t>(worker) * steps_ + step] += NanosecondsSince(start);
  }

  // Returns the time of all workers.
  double Spent(size_t step) const;

 private:
  std::vector<uint64_t> ns_;  // [workers][steps]
  size_t steps_ = 0;          // of the largest group
  int64_t timed_every_ = 1;   // in units
};

// The parts of a segment that its profile tells of.
struct ProfiledSegment {
  const Program& program;
  std::span<const size_t> ops;
  const StepList& list;
  std::span<const SegmentStep> steps;
  const SegmentLayout& layout;
  const char* device;
};

// Observes runs of a segment, while something is timed.
class SegmentProfile {
 public:
  explicit SegmentProfile(size_t ops) : counters_(ops) {}

  // Prepares for runs of another list or layout by this many threads.
  void Resize(const ProfiledSegment& segment, int threads);
  void Clear();

  // Runs a group by `run`, and adds its time. `run` gets the StepTimes that the workers fill, or
  // null if the group is a single step, which has all of the time.
  template <typename Run>
  void TimeGroup(size_t group, const Run& run) {
    StepTimes* times = counters_of_[group].size() > 1 ? &times_ : nullptr;
    if (times != nullptr) times->Begin(units_[group]);
    const ProfileClock::time_point start = ProfileClock::now();
    run(times);
    AddTime(group, NanosecondsSince(start));
  }
  void AddCall();

  // Appends a row for each operator.
  void Append(const ProfiledSegment& segment, std::vector<StepProfile>& steps) const;

 private:
  void AddTime(size_t group, uint64_t ns);

  std::vector<ProfileCounter> counters_;          // for each operator
  std::vector<std::vector<size_t>> counters_of_;  // for each group: its steps' counters
  std::vector<int64_t> units_;                    // for each group
  StepTimes times_;
};

// An event of a group's run in another profiler than ours (run_event.h).
struct GroupEvent {
  int node;
  const char* name;  // names of the group's operators, joined by +
};

// Returns the event of each group.
std::vector<GroupEvent> NameGroups(const ProfiledSegment& segment);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_SEGMENT_PROFILE_H_
