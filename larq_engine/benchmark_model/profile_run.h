// Runs a model many times in a few ways, and keeps the time of every step of every run.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_RUN_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_RUN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/host_profile.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

// A step of the main graph and its times, one for each run.
struct TimedStep {
  StepProfile step;
  std::vector<int64_t> nanoseconds;
};

struct TimedRuns {
  std::vector<TimedStep> steps;
  std::vector<int64_t> nanoseconds;  // times of whole runs
  HostProfile host;                  // from separate runs
};

struct ProfileRuns {
  TimedRuns fused;                     // the engine's usual way
  TimedRuns single;                    // the same operators on the same devices, each by itself
  std::optional<TimedRuns> host = {};  // the engine computes only what the host cannot
};

// Runs the model in LiteRT or, if the flags say so, without a host. Throws UsageError or RunError.
// `file` is the model.
ProfileRuns RunForProfile(const Flags& flags, std::span<const uint8_t> file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_RUN_H_
