#include "larq_engine/runtime/plan/engine.h"

#include <algorithm>
#include <tuple>

#include "larq_engine/runtime/plan/plan.h"

namespace larq_engine {

Engine::Engine(const EngineOptions& options, std::vector<std::unique_ptr<Executor>> executors,
               Placement placement, std::function<void(Program&)> split)
    : fuse_(options.fuse),
      executors_(std::move(executors)),
      placement_(std::move(placement)),
      split_(std::move(split)) {}

bool Engine::MayLeaveHost(const GraphNode& node) const {
  if (executors_.size() < 2) return false;
  const auto placed = placement_.device_of_node.find(node);
  return placed == placement_.device_of_node.end() || placed->second != 0;
}

void Engine::Add(Plan* plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  plans_.push_back(plan);
}

void Engine::Remove(Plan* plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(plans_, plan);
}

void Engine::StartProfile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Plan* plan : plans_) plan->ClearProfile();
  profiling_.store(true, std::memory_order_relaxed);
}

std::vector<StepProfile> Engine::StopProfile() {
  const std::lock_guard<std::mutex> lock(mutex_);
  profiling_.store(false, std::memory_order_relaxed);
  std::vector<StepProfile> steps;
  for (const Plan* plan : plans_) plan->AppendProfile(steps);
  std::stable_sort(steps.begin(), steps.end(), [](const StepProfile& a, const StepProfile& b) {
    return std::tie(a.subgraph, a.node) < std::tie(b.subgraph, b.node);
  });
  return steps;
}

}  // namespace larq_engine
