// Makes a GPU a device of plans.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_EXECUTOR_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_EXECUTOR_H_

#include <memory>
#include <string>

#include "larq_engine/runtime/cuda/cuda_memory.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CudaExecutor : public Executor {
 public:
  CudaExecutor(std::shared_ptr<CudaDevice> device, const EngineOptions& options);

  const char* device() const override { return name_.c_str(); }
  std::string Refusal(const Program& program, const ProgramOp& op) const override;
  std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                              int host_threads) const override;
  HostComparison CompareWithHost(const KnownOp& row, const OpInfo&) const override {
    return row.form == OpForm::kInt8 ? HostComparison::kCannot : HostComparison::kAsFast;
  }
  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override;
  DeviceMemory* memory() override { return &memory_; }

  const CudaQueue& queue() const { return queue_; }
  const std::string& kernel() const { return kernel_; }
  bool fuse() const { return fuse_; }

 private:
  std::string name_;
  std::string kernel_;  // name of the row for binary convolutions
  bool fuse_;
  CudaQueue queue_;
  CudaMemory memory_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_EXECUTOR_H_
