// The timing of steps as JSON, for larq_engine_profile_read.
#ifndef LARQ_ENGINE_RUNTIME_PROFILE_H_
#define LARQ_ENGINE_RUNTIME_PROFILE_H_

#include <cstdint>
#include <span>
#include <string>

namespace larq_engine {

struct StepProfile {
  std::string op;
  std::string name;
  int node;
  std::string kernel;
  uint64_t calls;
  uint64_t total_ns;
  int64_t macs;  // of one call
};

std::string ProfileJson(std::span<const StepProfile> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PROFILE_H_
