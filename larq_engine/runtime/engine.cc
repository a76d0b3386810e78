#include "larq_engine/runtime/engine.h"

#include <algorithm>

#include "larq_engine/kernels/pixel_ops_table.h"
#include "larq_engine/runtime/plan.h"
#include "larq_engine/runtime/usable_cpus.h"

namespace larq_engine {

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      pixel_ops_(SelectPixelOps(DetectCpuFeatures(), options_.kernel)) {}

ThreadPool& Engine::Threads(int host_threads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (threads_ == nullptr) {
    // More than there are CPUs would only wait for each other.
    const int most = std::min(kMaxThreads, UsableCpus());
    const int threads = options_.num_threads > 0 ? options_.num_threads : host_threads;
    threads_ = std::make_unique<ThreadPool>(std::clamp(threads, 1, most));
  }
  return *threads_;
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
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepProfile& a, const StepProfile& b) { return a.node < b.node; });
  return steps;
}

}  // namespace larq_engine
