// Runs a model with LiteRT's profiler on. The profiler takes time, so the timed runs are made
// without it.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_HOST_PROFILE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_HOST_PROFILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/host_model.h"
#include "larq_engine/benchmark_model/host_times.h"
#include "larq_engine/benchmark_model/litert_library.h"
#include "larq_engine/benchmark_model/operator_names.h"

namespace larq_engine {

struct HostProfile {
  std::vector<OperatorNames> names;  // for all nodes of the main graph
  std::optional<HostTimes> times;
  std::string refusal;  // reason why there are no times; else empty
  int runs = 0;

  std::span<const HostOpTimes> ops() const {
    return times ? std::span<const HostOpTimes>(times->ops()) : std::span<const HostOpTimes>();
  }
};

// Runs until there are `runs` runs in all, or the time of --max_secs is over; at least once. No
// other HostModel may exist.
void ProfileHost(const LiteRtLibrary& library, const Flags& flags, std::span<const uint8_t> file,
                 const std::function<void(TimedModel&)>& set_inputs, int runs,
                 HostProfile& profile);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_HOST_PROFILE_H_
