// The CPU as a device: its threads and kernels.
#ifndef LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_
#define LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_

#include <memory>
#include <mutex>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/thread_pool.h"

namespace larq_engine {

class CpuExecutor : public Executor {
 public:
  explicit CpuExecutor(const EngineOptions& options);

  const char* device() const override { return "cpu"; }
  std::string Refusal(const Program&, const ProgramOp&) const override { return ""; }
  std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                              int host_threads) const override;
  HostComparison CompareWithHost(const KnownOp& row, const OpInfo& op) const override;
  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override;

  // Starts the threads at the first call. `host_threads` decides their number if the options do
  // not.
  ThreadPool& Threads(int host_threads);

  StepKernels KernelsFor(const ProgramOp& op) const;
  bool fuse() const { return fuse_; }

 private:
  int ThreadCount(int host_threads) const;

  StepKernels kernels_;
  bool fuse_;
  int num_threads_;
  std::mutex mutex_;  // guards threads_
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_
