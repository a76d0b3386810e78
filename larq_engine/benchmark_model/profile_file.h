// Writes a profile like `larq-engine profile` does, for `larq-engine place` and `report` to read.
// larq_engine/placing/profile_file.py defines the format.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_FILE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/machine.h"
#include "larq_engine/benchmark_model/profile_run.h"

namespace larq_engine {

// `file` is the model that was run.
std::string ProfileFile(const Flags& flags, const Machine& machine, std::span<const uint8_t> file,
                        const ProfileRuns& runs);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_PROFILE_FILE_H_
