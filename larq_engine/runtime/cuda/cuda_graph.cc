#include "larq_engine/runtime/cuda/cuda_graph.h"

namespace larq_engine {

CudaGraph::CudaGraph(const CudaQueue& queue, const std::function<void(CUstream stream)>& record)
    : queue_(queue) {
  const CudaDriver& driver = queue.driver();
  // The capture has a stream of its own, because other threads may queue work to the delegate's
  // stream meanwhile.
  CUstream stream = nullptr;
  driver.Call(driver.cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  CUgraph graph = nullptr;
  try {
    driver.Call(driver.cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    record(stream);
    driver.Call(driver.cuStreamEndCapture, stream, &graph);
    driver.Call(driver.cuGraphInstantiateWithFlags, &exec_, graph, 0);
  } catch (...) {
    // A capture that is under way must be ended.
    if (graph == nullptr) (void)driver.cuStreamEndCapture(stream, &graph);
    if (graph != nullptr) (void)driver.cuGraphDestroy(graph);
    (void)driver.cuStreamDestroy(stream);
    throw;
  }
  (void)driver.cuGraphDestroy(graph);
  (void)driver.cuStreamDestroy(stream);
}

CudaGraph::~CudaGraph() {
  queue_.device().Releasing([&] { (void)queue_.driver().cuGraphExecDestroy(exec_); });
}

}  // namespace larq_engine
