// The timing of steps, for programs that link the engine in and, as JSON, for
// larq_engine_profile_read.
#ifndef LARQ_ENGINE_RUNTIME_PROFILE_H_
#define LARQ_ENGINE_RUNTIME_PROFILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct TfLiteDelegate;

namespace larq_engine {

struct StepProfile {
  std::string op;
  std::string name;  // of the output tensor
  std::string layer;
  int node;
  std::string kernel;
  uint64_t calls;
  uint64_t total_ns;
  int64_t macs;  // of one call
};

// Switches the timing off; see larq_engine.h.
std::vector<StepProfile> StopProfile(TfLiteDelegate* delegate);

std::string ProfileJson(std::span<const StepProfile> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PROFILE_H_
