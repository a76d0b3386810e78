// What the plans of one delegate share: options, threads, and the timing of steps.
#ifndef LARQ_ENGINE_RUNTIME_ENGINE_H_
#define LARQ_ENGINE_RUNTIME_ENGINE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "larq_engine/kernels/pixel_ops.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/profile.h"
#include "larq_engine/runtime/thread_pool.h"

namespace larq_engine {

class Plan;

class Engine {
 public:
  explicit Engine(EngineOptions options);

  const std::string& kernel() const { return options_.kernel; }
  const PixelOps& pixel_ops() const { return pixel_ops_; }
  bool fuse() const { return options_.fuse; }

  // Started at the first call; `host_threads` decides where the options do not.
  ThreadPool& Threads(int host_threads);

  // Plans make themselves known for the profile.
  void Add(Plan* plan);
  void Remove(Plan* plan);

  bool profiling() const { return profiling_.load(std::memory_order_relaxed); }
  void StartProfile();
  std::vector<StepProfile> StopProfile();  // in the order of execution

 private:
  EngineOptions options_;
  const PixelOps& pixel_ops_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<ThreadPool> threads_;
  std::vector<Plan*> plans_;
  std::atomic<bool> profiling_{false};
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_ENGINE_H_
