// The timing of plans, for programs that link the engine in and, as JSON, for
// larq_engine_profile_read.
#ifndef LARQ_ENGINE_RUNTIME_PROFILE_H_
#define LARQ_ENGINE_RUNTIME_PROFILE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct TfLiteDelegate;

namespace larq_engine {

// An operator, or a transfer between devices, which is a row of its own.
struct StepProfile {
  std::string op;     // kTransfer of a transfer
  std::string name;   // of the output tensor, or of what is moved
  std::string layer;  // that the tensor belongs to
  int node;           // in the host's graph: the operator, or what the transfer is for
  int subgraph = -1;  // of the model, which the node is in; -1 where the host does not tell
  std::string device;
  std::string kernel;
  uint64_t calls;
  uint64_t total_ns;
  int64_t macs = 0;         // of one call, if the operator multiplies
  uint64_t bytes = 0;       // of a transfer
  std::string reason = "";  // for the device; empty where there is no other
  int group = -1;  // the first node of those that run together, tile by tile or in one launch
  std::vector<int> absorbed = {};  // nodes that never run, as this one stands in for them
  int64_t absorbed_macs = 0;       // of one call of those
};

// Calls and their time, which several threads may add to.
class ProfileCounter {
 public:
  void Add(uint64_t ns) {
    AddCall();
    AddTime(ns);
  }
  void AddCall() { calls_.fetch_add(1, std::memory_order_relaxed); }
  void AddTime(uint64_t ns) { total_ns_.fetch_add(ns, std::memory_order_relaxed); }
  void Clear() {
    calls_.store(0, std::memory_order_relaxed);
    total_ns_.store(0, std::memory_order_relaxed);
  }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  uint64_t total_ns() const { return total_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> total_ns_{0};
};

using ProfileClock = std::chrono::steady_clock;

inline uint64_t NanosecondsSince(ProfileClock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(ProfileClock::now() - start).count());
}

inline constexpr char kTransfer[] = "TRANSFER";

// Switches the timing off; see larq_engine.h.
std::vector<StepProfile> StopProfile(TfLiteDelegate* delegate);

std::string ProfileJson(std::span<const StepProfile> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PROFILE_H_
