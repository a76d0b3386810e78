// Estimates the time of a step, so that devices can be compared: a pure function.
#ifndef LARQ_ENGINE_RUNTIME_CPU_STEP_SECONDS_H_
#define LARQ_ENGINE_RUNTIME_CPU_STEP_SECONDS_H_

#include <cstddef>
#include <string_view>

#include "larq_engine/kernels/isa/cpu_features.h"
#include "larq_engine/runtime/ops/op.h"

namespace larq_engine {

// The CPU and the settings that the estimate is for.
struct StepCpu {
  CpuFeatures features;
  std::string_view kernel;  // as in StepKernels
  int threads;
};

// `bytes` are those of the operator's data inputs and output.
double StepSeconds(const Op& op, const TensorShape& output, size_t bytes, const StepCpu& cpu);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_STEP_SECONDS_H_
