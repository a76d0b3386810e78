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
  std::string op;     // kTransfer for a transfer
  std::string name;   // name of the output tensor, or of the tensor that is moved
  std::string layer;  // layer that the tensor belongs to
  int node;           // in the host's graph; of a transfer, the node that needs it
  int subgraph = -1;  // number of the node's graph in the model; -1 if the host does not tell
  std::string device;
  std::string kernel;
  uint64_t calls;
  uint64_t total_ns;
  int64_t macs = 0;         // products of one call; 0 if the operator has none
  uint64_t bytes = 0;       // size of a transfer
  std::string reason = "";  // for choosing this device; empty if there is no other
  int group = -1;           // first node of those that run together, tile by tile or in one launch
  std::vector<int> absorbed = {};  // nodes that never run: this one computes their results too
  int64_t absorbed_macs = 0;       // their products in one call
};

// Counts calls and their time. Several threads may add to one counter.
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

// Switches the timing off and returns the rows; see larq_engine.h.
std::vector<StepProfile> StopProfile(TfLiteDelegate* delegate);

std::string ProfileJson(std::span<const StepProfile> steps);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PROFILE_H_
