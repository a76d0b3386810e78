// A run of a segment: walks the groups of its layout. All decisions were made before.
#ifndef LARQ_ENGINE_RUNTIME_CPU_SEGMENT_RUN_H_
#define LARQ_ENGINE_RUNTIME_CPU_SEGMENT_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/cpu/segment_layout.h"
#include "larq_engine/runtime/cpu/segment_profile.h"
#include "larq_engine/runtime/cpu/segment_steps.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/thread_teams.h"

namespace larq_engine {

class SegmentRunner {
 public:
  // Allocates the memory of runs of this layout on up to `threads` threads, each of which makes
  // `passes` passes. The steps must outlive the runs.
  void Resize(SegmentLayout layout, int passes, std::span<const SegmentStep> steps,
              std::vector<GroupEvent> events, int threads);

  // Gives the next runs these teams, of at most as many threads as Resize got.
  void UseTeams(std::shared_ptr<ThreadTeams> teams) { teams_ = std::move(teams); }

  // Allocates nothing, unless other runs have all the teams and another may be started. `profile`
  // observes the run; it is null while nothing is timed. Throws OpError, whose text names the
  // operator, if data are at fault.
  void Run(const SegmentRun& run, SegmentProfile* profile);

  const SegmentLayout& layout() const { return layout_; }

 private:
  struct Job;  // a run of a group

  void FindShared(std::span<std::byte* const> places, int pass);
  void RunGroup(size_t group, ThreadPool& threads, SegmentProfile* profile);
  void CheckGroup(size_t group) const;
  void RunUnits(const StepGroup& group, int64_t first, int64_t last, int worker, StepTimes* times);

  SegmentLayout layout_;
  int passes_ = 1;
  std::span<const SegmentStep> steps_;
  std::vector<GroupEvent> events_;  // for each group
  std::shared_ptr<ThreadTeams> teams_;
  AlignedBuffer<std::byte> arena_;
  AlignedBuffer<std::byte> scratch_;       // a part for each worker
  std::vector<std::byte*> addresses_;      // of places in this pass, as ValuePlace numbers them
  std::vector<const ValuePlace*> shared_;  // places whose addresses each run has anew
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_SEGMENT_RUN_H_
