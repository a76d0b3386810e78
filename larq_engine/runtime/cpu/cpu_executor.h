// The CPU as a device: its threads and kernels.
#ifndef LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_
#define LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_

#include <chrono>
#include <memory>

#include "larq_engine/runtime/cpu/step.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/thread_teams.h"

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

  // Returns the number of threads of a run. `host_threads` decides it if the options do not.
  int ThreadCount(int host_threads) const;
  // Returns the teams of runs of so many threads.
  std::shared_ptr<ThreadTeams> Teams(int threads) const {
    return ThreadTeams::OfProcess(threads, spin_);
  }

  StepKernels KernelsFor(const ProgramOp& op) const;
  bool fuse() const { return fuse_; }

 private:
  StepKernels kernels_;
  bool fuse_;
  int num_threads_;
  std::chrono::microseconds spin_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CPU_CPU_EXECUTOR_H_
