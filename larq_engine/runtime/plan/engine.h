// What the plans of one delegate share: options, devices, and the switch for timing.
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

// Data of an input that runs read in place of the host's tensor.
struct GivenInput {
  const std::byte* data;
  size_t bytes;
  bool is_on_device;  // in the memory of the device that has its own
};

class Engine {
 public:
  // The first executor works in the host's memory; of others, which have their own, there is at
  // most one.
  // `split` cuts layers in parts for them, before each part is assigned; it may be empty.
  Engine(const EngineOptions& options, std::vector<std::unique_ptr<Executor>> executors,
         Placement placement = {}, std::function<void(Program&)> split = {});

  bool fuse() const { return fuse_; }
  std::span<const std::unique_ptr<Executor>> executors() const { return executors_; }
  // Of graphs that have none of their own.
  const std::shared_ptr<const Placement>& placement() const { return placement_; }
  void Split(Program& program) const {
    if (split_) split_(program);
  }

  // Plans make themselves known for the profile.
  void Add(Plan* plan);
  void Remove(Plan* plan);

  // What devices with memory of their own hold, for the plans that were prepared.
  std::vector<MemoryReport> Memory() const;

  // Where the data of a tensor of the host's main graph are: runs read them there, until null takes
  // them back or the last plan is gone. Throws OpError where they cannot: only the device with its
  // own memory does. Not while a plan runs.
  void GiveInput(int tensor, const GivenInput& input);
  // Throws OpError where the plan has other shapes or devices than when they were given.
  void CheckGivenInputs(const Plan& plan) const;
  // Null where the data are in the host's tensor.
  const GivenInput* FindGivenInput(int tensor) const;

  bool profiling() const { return profiling_.load(std::memory_order_relaxed); }
  void StartProfile();
  std::vector<StepProfile> StopProfile();  // in the order of execution

 private:
  void CheckReaders(const InputReaders& readers, const GivenInput& input) const;

  bool fuse_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::shared_ptr<const Placement> placement_;
  std::function<void(Program&)> split_;
  std::mutex mutex_;  // guards what follows
  std::vector<Plan*> plans_;
  std::atomic<bool> profiling_{false};
  std::map<int, GivenInput> given_inputs_;  // by tensor; as it is while plans run
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_ENGINE_H_
