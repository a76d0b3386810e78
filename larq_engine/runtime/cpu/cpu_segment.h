// Operators on the CPU. Resize decides everything for a set of shapes: the steps (step_list.h) and
// their layout (segment_layout.h). Run then only walks the layout (segment_run.h).
#ifndef LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_
#define LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_

#include <span>
#include <vector>

#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/cpu/pass_values.h"
#include "larq_engine/runtime/cpu/segment_profile.h"
#include "larq_engine/runtime/cpu/segment_run.h"
#include "larq_engine/runtime/cpu/segment_steps.h"
#include "larq_engine/runtime/cpu/step_list.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CpuSegment : public Segment {
 public:
  CpuSegment(CpuExecutor& executor, const Program& program, std::span<const size_t> ops,
             const std::vector<bool>& is_shared);

  void Resize(int host_threads) override;
  void LimitThreads(int most) override;
  void Run(const SegmentRun& run) override {
    runner_.Run(run, run.profiling ? &profile_ : nullptr);
  }
  void ClearProfile() override { profile_.Clear(); }
  void AppendProfile(std::vector<StepProfile>& steps) const override {
    profile_.Append(Describe(runner_.layout()), steps);
  }

 private:
  void MakeSteps(StepList list);
  void ResizeSteps(const PassValues& values);
  std::vector<SizedStep> DescribeSteps(const PassValues& values) const;
  ProfiledSegment Describe(const SegmentLayout& layout) const;

  CpuExecutor& executor_;
  const Program& program_;
  const std::vector<bool>& is_shared_;  // for each of the program's values
  std::vector<size_t> ops_;             // numbers in the program
  StepList list_;                       // the list that steps_ were made for
  std::vector<SegmentStep> steps_;
  int planned_threads_ = 0;         // of the layout; 0 while there is none
  int most_threads_ = kMaxThreads;  // that runs may use
  SegmentRunner runner_;
  SegmentProfile profile_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_
