// Launches between two events, which tell how long the GPU worked on them.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_
#define LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_

#include <cstdint>
#include <span>

#include "larq_engine/runtime/cuda/cuda_graph.h"
#include "larq_engine/runtime/cuda/cuda_queue.h"
#include "larq_engine/runtime/cuda/launch.h"

namespace larq_engine {

// A graph, although it is started for these launches alone. If the host queued the first event by
// itself, a GPU that has nothing else to do would pass it before the host has queued the launch
// behind it, and the time would have microseconds of the host's in it: as many as a small kernel
// takes.
class TimedLaunches {
 public:
  // All calls need a current context, the destructor too.
  TimedLaunches(const CudaQueue& queue, std::span<const Launch> launches);

  // Runs them and waits for them. The nanoseconds that they took.
  uint64_t Run() const;

 private:
  const CudaQueue& queue_;
  CudaEvent begin_;
  CudaEvent end_;
  CudaGraph graph_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_TIMED_LAUNCHES_H_
