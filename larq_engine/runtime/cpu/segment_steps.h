// Makes the steps of a segment, as step_list.h lists them.
#ifndef LARQ_ENGINE_RUNTIME_CPU_SEGMENT_STEPS_H_
#define LARQ_ENGINE_RUNTIME_CPU_SEGMENT_STEPS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/cpu/step_list.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct SegmentStep {
  const OpName* name = nullptr;  // of the operator, in the program
  std::unique_ptr<Op> part_op;   // operator for the step's channels; null if it computes all
  std::unique_ptr<Step> step;
  // If the step makes a part of the output: bytes in each pixel before the part, and of the part.
  size_t part_offset = 0;
  size_t part_bytes = 0;
};

// Returns a step for each one of the list. Throws OpError, whose text names the operator.
std::vector<SegmentStep> MakeSegmentSteps(
    const Program& program, const StepList& list,
    const std::function<StepKernels(const ProgramOp&)>& kernels_for);

// Returns, for operators that absorb others, which ones their steps compute as well. All numbers
// are those of the program.
std::map<size_t, std::vector<size_t>> FindAbsorbed(const StepList& list);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_SEGMENT_STEPS_H_
