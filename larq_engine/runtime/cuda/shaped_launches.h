// The operators of a segment for one set of shapes: a launch or more for each chain, all of which a
// graph replays.
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
  // Prepares the launches for the current shapes of the program. All arguments must outlive the
  // object.
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
    std::unique_ptr<TimedLaunches> timed = {};  // null until `launches` are timed
    const char* name = "";  // the chain's operators, for the host's profiler; lives forever
    uint64_t calls = 0;
    uint64_t total_ns = 0;
  };

  const ProgramOp& FirstOp(const PlannedChain& planned) const {
    return program_.op(planned.chain.ops[0]);
  }
  void PlaceValues(const std::vector<bool>& is_shared);
  // Makes the launches for these addresses of shared values, which are empty while they are
  // unknown.
  void MakeLaunches(std::span<std::byte* const> places);
  // Queues all launches to the stream.
  void Record(CUstream stream) const;
  // Needs a current context.
  void DropGraphs();
  void RunTimed(RunProfiler* profiler);
  template <typename Work>
  void NamingAll(const Work& work) const;

  CudaExecutor& executor_;
  const Program& program_;
  std::span<const size_t> ops_;
  DeviceConstants& constants_;
  std::vector<PlannedChain> chains_;
  std::vector<size_t> chain_of_;          // for each operator of the program: its chain
  std::unique_ptr<DeviceBuffer> memory_;  // holds the values that only the segment uses
  std::vector<size_t> offsets_;           // for each value: its offset in memory_, or kNowhere
  std::vector<std::byte*> places_;        // the addresses that launches were made for, or empty
  std::unique_ptr<CudaGraph> graph_;      // replays all launches; null until the first run
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_SHAPED_LAUNCHES_H_
