// Runs a model several times in each of a few ways, and keeps the time of every step of every run.
#ifndef BENCHMARKS_MODEL_PROFILE_RUN_H_
#define BENCHMARKS_MODEL_PROFILE_RUN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/model/flags.h"
#include "benchmarks/model/host_profile.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// A step and its seconds, one for each run.
struct TimedStep {
  StepProfile step;
  std::vector<double> seconds;
};

struct TimedRuns {
  std::vector<TimedStep> steps;
  std::vector<double> seconds;       // of whole runs
  std::vector<double> host_seconds;  // of them, what was in no step
  HostProfile host;                  // of runs of their own
};

struct ProfileRuns {
  TimedRuns fused;   // as the engine runs the model
  TimedRuns single;  // the same operators on the same devices, each alone
  TimedRuns host;    // only what the host lacks is the engine's
};

// Throws UsageError or RunError. `file` is the model.
ProfileRuns RunForProfile(const Flags& flags, std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_PROFILE_RUN_H_
