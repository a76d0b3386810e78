// Work for a GPU that was recorded once and is queued with one call.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_CUDA_GRAPH_H_
#define LARQ_ENGINE_RUNTIME_CUDA_CUDA_GRAPH_H_

#include <functional>

#include "larq_engine/runtime/cuda/cuda_queue.h"

namespace larq_engine {

class CudaGraph {
 public:
  // Records what `record` queues to the stream that it is given. `queue` must outlive the graph.
  // All calls except the destructor need a current context.
  CudaGraph(const CudaQueue& queue, const std::function<void(CUstream stream)>& record);
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void Launch() const {
    queue_.driver().Call(queue_.driver().cuGraphLaunch, exec_, queue_.stream());
  }

 private:
  const CudaQueue& queue_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_CUDA_GRAPH_H_
