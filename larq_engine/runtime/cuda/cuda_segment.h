// Operators on a GPU: chains of them as launches, which a graph replays.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "larq_engine/runtime/cuda/chains.h"
#include "larq_engine/runtime/cuda/cuda_executor.h"
#include "larq_engine/runtime/cuda/device_constants.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class CudaSegment : public Segment {
 public:
  CudaSegment(CudaExecutor& executor, const Program& program, std::span<const size_t> ops,
              const std::vector<bool>& is_shared);
  ~CudaSegment() override;

  void Resize(int host_threads) override;
  void Run(const SegmentRun& run) override;
  void ClearProfile() override;
  void AppendProfile(std::vector<StepProfile>& steps) const override;

 private:
  struct PlannedChain {
    Chain chain;
    std::vector<Launch> launches;
    const char* name = "";  // of its operators, for the host's profiler; lasting
    uint64_t calls = 0;
    uint64_t total_ns = 0;
  };

  const ProgramOp& FirstOp(const PlannedChain& planned) const {
    return program_.op(planned.chain.ops[0]);
  }
  void PlaceValues();
  // For these places of shared values; none while they are not known.
  void MakeLaunches(std::span<std::byte* const> places);
  void Capture();
  void DropGraph();
  void RunTimed(void* host_profiler);
  template <typename Work>
  void NamingAll(const Work& work) const;

  CudaExecutor& executor_;
  const Program& program_;
  const std::vector<bool>& is_shared_;
  std::vector<size_t> ops_;
  std::vector<PlannedChain> chains_;
  DeviceConstants constants_;
  std::byte* memory_ = nullptr;  // for values that are the segment's alone
  size_t memory_bytes_ = 0;
  std::vector<size_t> offsets_;     // of values, in it
  std::vector<std::byte*> places_;  // that launches were made for; empty: none
  CUgraphExec graph_ = nullptr;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_SEGMENT_H_
