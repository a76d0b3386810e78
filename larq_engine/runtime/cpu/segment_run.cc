#include "larq_engine/runtime/cpu/segment_run.h"

#include <array>
#include <utility>

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/run_event.h"

namespace larq_engine {

void SegmentRunner::Resize(SegmentLayout layout, int passes, std::span<const SegmentStep> steps,
                           std::vector<GroupEvent> events, int threads) {
  layout_ = std::move(layout);
  passes_ = passes;
  steps_ = steps;
  events_ = std::move(events);
  arena_ = AlignedBuffer<std::byte>(layout_.arena_bytes);
  scratch_ =
      AlignedBuffer<std::byte>(MemoryProduct(layout_.scratch_bytes, static_cast<size_t>(threads)));
  addresses_.assign(layout_.addresses, nullptr);
  shared_.clear();
  const auto find = [&](const ValuePlace& place) {
    if (place.kind == PlaceKind::kArena) addresses_[place.address] = arena_.data() + place.offset;
    if (place.kind == PlaceKind::kShared) shared_.push_back(&place);
  };
  for (const PlacedStep& step : layout_.steps) {
    for (const ValuePlace& input : step.inputs) find(input);
    find(step.output);
  }
}

void SegmentRunner::FindShared(std::span<std::byte* const> places, int pass) {
  for (const ValuePlace* place : shared_) {
    addresses_[place->address] =
        places[place->value] + static_cast<size_t>(pass) * place->pass_bytes + place->offset;
  }
}

void SegmentRunner::RunUnits(const StepGroup& group, int64_t first, int64_t last, int worker,
                             StepTimes* times) {
  std::byte* scratch = scratch_.data() + static_cast<size_t>(worker) * layout_.scratch_bytes;
  const int64_t blocks = layout_.steps[group.steps[0]].blocks;
  for (int64_t unit = first; unit < last; ++unit) {
    StepRange range = group.tiling.RangeOf(unit, blocks);
    const auto at_first_pixel = [&](const ValuePlace& place) {
      return place.kind == PlaceKind::kTile
                 ? scratch + place.offset
                 : addresses_[place.address] +
                       static_cast<size_t>(range.first_pixel) * place.pixel_bytes;
    };
    const bool is_timed = times != nullptr && times->IsTimed(unit);
    for (size_t i = 0; i < group.steps.size(); ++i) {
      const PlacedStep& placed = layout_.steps[group.steps[i]];
      const Step& step = *steps_[group.steps[i]].step;
      std::array<const void*, kMaxDataInputs> inputs;
      for (size_t k = 0; k < placed.inputs.size(); ++k) {
        inputs[k] = at_first_pixel(placed.inputs[k]);
      }
      if (i > 0) range.last_block = placed.blocks;  // only a lone step is cut in blocks
      const auto run = [&] {
        step.Run({inputs.data(), placed.inputs.size()}, range, scratch,
                 at_first_pixel(placed.output));
      };
      if (is_timed) {
        times->Time(worker, i, run);
      } else {
        run();
      }
    }
  }
}

struct SegmentRunner::Job {
  SegmentRunner* runner;
  const StepGroup* group;
  StepTimes* times;  // null if no step is timed

  static void Run(void* data, int64_t first, int64_t last, int worker) {
    const Job& job = *static_cast<const Job*>(data);
    job.runner->RunUnits(*job.group, first, last, worker, job.times);
  }
};

void SegmentRunner::RunGroup(size_t group, ThreadPool& threads, SegmentProfile* profile) {
  Job job{.runner = this, .group = &layout_.groups[group], .times = nullptr};
  const auto run = [&](StepTimes* times) {
    job.times = times;
    threads.Run(job.group->tiling.units(), Job::Run, &job);
  };
  if (profile == nullptr) {
    run(nullptr);
  } else {
    profile->TimeGroup(group, run);
  }
}

// Throws OpError, whose text names the operator, if data of the last run were at fault.
void SegmentRunner::CheckGroup(size_t group) const {
  for (size_t index : layout_.groups[group].steps) {
    const SegmentStep& checked = steps_[index];
    ForOperator(*checked.name, [&] { checked.step->CheckRun(); });
  }
}

void SegmentRunner::Run(const SegmentRun& run, SegmentProfile* profile) {
  ThreadTeams::Lease team(*teams_);
  for (int pass = 0; pass < passes_; ++pass) {
    FindShared(run.places, pass);
    for (size_t group = 0; group < layout_.groups.size(); ++group) {
      team.TakeIfAlone();
      const RunEvent event(run.profiler, events_[group].node, events_[group].name);
      RunGroup(group, *team, profile);
      CheckGroup(group);
    }
  }
  if (profile != nullptr) profile->AddCall();
}

}  // namespace larq_engine
