// A segment's operators for one set of shapes: chains of them as launches, which a graph replays.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_SHAPED_LAUNCHES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_SHAPED_LAUNCHES_H_

#include <memory>
#include <span>
#include <vector>

#include "larq_engine/runtime/cuda/chains.h"
#include "larq_engine/runtime/cuda/cuda_executor.h"
#include "larq_engine/runtime/cuda/cuda_graph.h"
#include "larq_engine/runtime/cuda/device_constants.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/cuda/timed_launches.h"
#include "larq_engine/runtime/executor.h"

namespace larq_engine {

class ShapedLaunches {
 public:
  // For the shapes that the program has now. `constants` outlives it, as all else does.
  ShapedLaunches(CudaExecutor& executor, const Program& program, std::span<const size_t> ops,
                 const std::vector<bool>& is_shared, DeviceConstants& constants);
  ~ShapedLaunches();
  ShapedLaunches(const ShapedLaunches&) = delete;
  ShapedLaunches& operator=(const ShapedLaunches&) = delete;

  void Run(const SegmentRun& run);
  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  struct PlannedChain {
    Chain chain;
    std::vector<Launch> launches;
    std::unique_ptr<TimedLaunches> timed = {};  // the same; none before they were timed
    const char* name = "";  // of its operators, for the host's profiler; lasting
    uint64_t calls = 0;
    uint64_t total_ns = 0;
  };

  const ProgramOp& FirstOp(const PlannedChain& planned) const {
    return program_.op(planned.chain.ops[0]);
  }
  void PlaceValues(const std::vector<bool>& is_shared);
  // For these places of shared values; none while they are not known.
  void MakeLaunches(std::span<std::byte* const> places);
  // All launches to a stream.
  void Record(CUstream stream) const;
  // Needs a current context.
  void DropGraphs();
  void RunTimed(void* host_profiler);
  template <typename Work>
  void NamingAll(const Work& work) const;

  CudaExecutor& executor_;
  const Program& program_;
  std::span<const size_t> ops_;
  DeviceConstants& constants_;
  std::vector<PlannedChain> chains_;
  std::vector<size_t> chain_of_;          // of the program's operators
  std::unique_ptr<DeviceBuffer> memory_;  // for values that are the segment's alone
  std::vector<size_t> offsets_;           // of values, in it
  std::vector<std::byte*> places_;        // that launches were made for; empty: none
  std::unique_ptr<CudaGraph> graph_;      // of all launches; none before they ran
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_SHAPED_LAUNCHES_H_
