#include "larq_engine/runtime/cpu/cpu_segment.h"

#include <algorithm>
#include <utility>

#include "larq_engine/runtime/cpu/segment_layout.h"

namespace larq_engine {

CpuSegment::CpuSegment(CpuExecutor& executor, const Program& program, std::span<const size_t> ops,
                       const std::vector<bool>& is_shared)
    : executor_(executor),
      program_(program),
      is_shared_(is_shared),
      ops_(ops.begin(), ops.end()),
      profile_(ops.size()) {}

void CpuSegment::Resize(int host_threads) {
  const int passes = CountPasses(program_, ops_);
  StepList list = ListSteps(program_, ops_, is_shared_, executor_.fuse());
  if (list != list_) MakeSteps(std::move(list));
  const PassValues values(program_, list_, passes);
  ResizeSteps(values);
  const int threads = executor_.ThreadCount(host_threads);
  std::shared_ptr<ThreadTeams> teams = executor_.Teams(std::min(threads, most_threads_));
  SegmentLayout layout = LayOutSegment(DescribeSteps(values), executor_.fuse(), threads);
  const ProfiledSegment profiled = Describe(layout);
  profile_.Resize(profiled, threads);
  std::vector<GroupEvent> events = NameGroups(profiled);
  runner_.Resize(std::move(layout), passes, steps_, std::move(events), threads);
  runner_.UseTeams(std::move(teams));
  planned_threads_ = threads;
}

void CpuSegment::LimitThreads(int most) {
  if (planned_threads_ > 0) runner_.UseTeams(executor_.Teams(std::min(planned_threads_, most)));
  most_threads_ = most;
}

// Leaves no steps if it throws.
void CpuSegment::MakeSteps(StepList list) {
  list_ = {};
  steps_.clear();
  steps_ = MakeSegmentSteps(program_, list,
                            [&](const ProgramOp& op) { return executor_.KernelsFor(op); });
  list_ = std::move(list);
}

void CpuSegment::ResizeSteps(const PassValues& values) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const ListedStep& listed = list_.steps[i];
    std::vector<TensorShape> inputs;
    for (size_t input : listed.inputs) inputs.push_back(values.Shape(input));
    ForOperator(program_.op(listed.op).name,
                [&] { steps_[i].step->Resize(inputs, values.Shape(listed.output)); });
  }
}

std::vector<SizedStep> CpuSegment::DescribeSteps(const PassValues& values) const {
  std::vector<SizedStep> described;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const ListedStep& listed = list_.steps[i];
    const Step& step = *steps_[i].step;
    std::vector<SizedInput> inputs;
    for (size_t k = 0; k < listed.inputs.size(); ++k) {
      const size_t value = listed.inputs[k];
      inputs.push_back({.value = list_.Stored(value),
                        .bytes = values.Bytes(value),
                        .is_read_whole = step.reads_whole(k)});
    }
    described.push_back({.inputs = std::move(inputs),
                         .output = listed.output,
                         .output_bytes = values.Bytes(listed.output),
                         .is_shared = !values.IsPart(listed.output) && is_shared_[listed.output],
                         .is_of_parts = listed.kind != ListedStep::kWhole,
                         .part_offset = steps_[i].part_offset,
                         .part_bytes = steps_[i].part_bytes,
                         .pixels = step.pixels(),
                         .blocks = step.blocks(),
                         .kernel_pixels = step.kernel_pixels(),
                         .pixelwise = step.pixelwise(),
                         .in_place = step.in_place(),
                         .scratch_bytes = step.scratch_bytes()});
  }
  return described;
}

ProfiledSegment CpuSegment::Describe(const SegmentLayout& layout) const {
  return {.program = program_,
          .ops = ops_,
          .list = list_,
          .steps = steps_,
          .layout = layout,
          .device = executor_.device()};
}

}  // namespace larq_engine
