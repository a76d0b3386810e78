// Everything that the plans of one delegate share: options, devices, and the switch for timing.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_ENGINE_H_
#define LARQ_ENGINE_RUNTIME_PLAN_ENGINE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/memory_report.h"
#include "larq_engine/runtime/plan/placement.h"
#include "larq_engine/runtime/profile.h"

namespace larq_engine {

class Plan;
struct InputReaders;

// Data that runs read as an input in place of the host's tensor.
struct GivenInput {
  const std::byte* data;
  size_t bytes;
  bool is_on_device;  // whether the data are in the memory of the device that has its own
};

class Engine {
 public:
  // Executors are the devices, in the order of their numbers (devices.h). There may be one beside
  // the CPU. `split` cuts layers into parts, so that each part can be assigned to a device; it may
  // be empty.
  Engine(const EngineOptions& options, std::vector<std::unique_ptr<Executor>> executors,
         Placement placement = {}, std::function<void(Program&)> split = {});

  bool fuse() const { return fuse_; }
  std::span<const std::unique_ptr<Executor>> executors() const { return executors_; }
  // Returns the placement of graphs whose model has none of its own.
  const std::shared_ptr<const Placement>& placement() const { return placement_; }
  void Split(Program& program) const {
    if (split_) split_(program);
  }

  // Plans register here, so that the profile includes them.
  void Add(Plan* plan);
  void Remove(Plan* plan);

  // Returns the memory that devices with memory of their own hold for the plans that were prepared.
  std::vector<MemoryReport> Memory() const;

  // Sets where the data of a tensor of the host's main graph are. Runs read them there until null
  // data are set or the last plan is gone. Throws OpError if any operator but those of the device
  // with its own memory reads the tensor. Must not be called while a plan runs.
  void GiveInput(int tensor, const GivenInput& input);
  // Throws OpError if the plan's shapes or devices no longer fit the inputs that were given.
  void CheckGivenInputs(const Plan& plan) const;
  // Returns null if the data are in the host's tensor.
  const GivenInput* FindGivenInput(int tensor) const;

  bool profiling() const { return profiling_.load(std::memory_order_relaxed); }
  void StartProfile();
  std::vector<StepProfile> StopProfile();  // rows are sorted by graph and node

 private:
  void CheckReaders(const InputReaders& readers, const GivenInput& input) const;

  bool fuse_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::shared_ptr<const Placement> placement_;
  std::function<void(Program&)> split_;
  std::mutex mutex_;  // guards plans_
  std::vector<Plan*> plans_;
  std::atomic<bool> profiling_{false};
  std::map<int, GivenInput> given_inputs_;  // indexed by tensor; does not change while plans run
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ENGINE_H_
