// Launches between two events that tell how long the GPU worked on them.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_

#include <cstdint>
#include <span>

#include "larq_engine/runtime/cuda/cuda_graph.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/launch.h"

namespace larq_engine {

// The launches and events are a graph, although it replays only the launches of one chain. If the
// host queued the first event separately, an idle GPU would pass it before the host has queued the
// launch behind it. The time would then include microseconds of the host's work, which is as long
// as a small kernel takes.
class TimedLaunches {
 public:
  // All calls need a current context, including the destructor.
  TimedLaunches(const CudaQueue& queue, std::span<const Launch> launches);

  // Runs the launches, waits for them, and returns the nanoseconds that they took.
  uint64_t Run() const;

 private:
  const CudaQueue& queue_;
  CudaEvent begin_;
  CudaEvent end_;
  CudaGraph graph_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_
