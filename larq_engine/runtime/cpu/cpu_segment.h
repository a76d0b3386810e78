// Operators on the CPU: groups of steps in order, with memory of their own for the values between
// them.
#ifndef LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_
#define LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_

#include <memory>
#include <span>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/cpu/cpu_executor.h"
#include "larq_engine/runtime/cpu/fusion.h"
#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_list.h"
#include "larq_engine/runtime/cpu/tile_memory.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CpuSegment : public Segment {
 public:
  CpuSegment(CpuExecutor& executor, const Program& program, std::span<const size_t> ops,
             const std::vector<bool>& is_shared);

  void Resize(int host_threads) override;
  void Run(const SegmentRun& run) override;
  void ClearProfile() override;
  void AppendProfile(std::vector<StepProfile>& steps) const override;

 private:
  // The place of a value that a step reads or makes.
  struct Place {
    size_t value;
    int maker = -1;          // first step that makes the value or a part of it; -1 if none does
    size_t pixel_bytes = 0;  // for pixelwise steps
    size_t part_offset = 0;  // bytes in each pixel before the part that the step makes
    PlaceKind kind = PlaceKind::kShared;
    size_t offset = 0;          // in the arena or the scratch
    std::byte* base = nullptr;  // beginning in this run; unused for tiles
  };
  // An operator of the segment. One step computes it, or several, or none.
  struct PlannedOp {
    const ProgramOp* op;
    std::vector<const PlannedOp*> absorbed = {};  // operators that its step computes as well
    int64_t macs = 0;
    std::string kernel = {};  // name of its step's row
    int group = 0;            // node of the first operator that runs with it
    ProfileCounter counter;
  };
  struct PlannedStep {
    PlannedOp* op;
    std::unique_ptr<Op> part_op;  // operator for the step's channels; null if it is `op` itself
    std::unique_ptr<Step> step;
    std::vector<int> producers;  // steps that make the inputs, or -1
    std::vector<size_t> inputs_of_producers;
    int beside = -1;  // see FusionStep
    std::vector<Place> inputs;
    Place output;
    size_t part_bytes = 0;  // if the step makes a part of the output: bytes in each pixel
  };
  struct Group {
    std::vector<PlannedStep*> steps;
    int64_t pixels;
    Tiling tiling;
    const char* ops;  // names joined by +, for the host's profiler, from LastingName
  };
  struct Job;  // a run of a group

  int CountPasses() const;
  bool IsPart(size_t value) const;
  bool IsShared(size_t value) const { return !IsPart(value) && is_shared_[value]; }
  TensorShape Shape(size_t value) const;
  size_t Bytes(size_t value) const;
  void MakeSteps(StepList list);
  void MakePart(const ListedStep& listed, PlannedStep& planned) const;
  std::unique_ptr<Step> MakeStepOf(const ListedStep& listed, const PlannedStep& planned) const;
  ResidualOps ResidualOf(const ListedStep& listed) const;
  std::vector<const Conv2dOp*> GroupsOf(const ListedStep& listed) const;
  static std::vector<int> WholeProducers(const PlannedStep& planned);
  std::vector<TileMemoryStep> DescribeSteps() const;
  std::vector<std::vector<size_t>> MakeGroups();  // returns which steps are in each group
  void PlaceValues(std::span<const std::vector<size_t>> members);
  void FindValue(std::span<std::byte* const> places, int pass, Place& place);
  void RunGroup(const SegmentRun& run, int pass, Group& group);
  static void RunUnits(void* job, int64_t first, int64_t last, int worker);
  void ShareTime(Group& group, uint64_t wall_ns);

  CpuExecutor& executor_;
  const Program& program_;
  const std::vector<bool>& is_shared_;  // for each of the program's values
  std::vector<size_t> op_indices_;      // numbers in the program
  std::vector<std::unique_ptr<PlannedOp>> ops_;
  StepList list_;   // the list that steps_ were made for
  int passes_ = 1;  // parts of a batch that go through all steps one after another
  std::vector<std::unique_ptr<PlannedStep>> steps_;
  std::vector<Group> groups_;
  ThreadPool* threads_ = nullptr;  // belong to the executor
  AlignedBuffer<std::byte> memory_;
  AlignedBuffer<std::byte> scratch_;  // one part for each thread: first the step's own, then tiles
  size_t scratch_stride_ = 0;
  std::vector<uint64_t> step_ns_;  // [threads][steps of the largest group], while profiling
  std::vector<double> spent_;      // for the steps of the largest group
  size_t largest_group_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_CPU_SEGMENT_H_
