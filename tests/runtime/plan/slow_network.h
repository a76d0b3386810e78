// A residual network over two devices whose operators and copies take known times. Some operators
// are faster on the CPU, others on the mirror, and transfers between them cost time.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_
#define LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_

#include <cstddef>
#include <vector>

#include "tests/host/graph.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/plan/assign_oracle.h"

namespace larq_engine::testing {

// The network has blocks of a quantization, a convolution, and the sum with the block's input.
class SlowNetwork {
 public:
  SlowNetwork();

  const Graph& graph() const { return graph_; }
  // Its operators are those of the graph, in the same order.
  const AssignProblem& problem() const { return problem_; }
  // Returns the graph's tensor for a value of the problem.
  const GraphTensor& Tensor(size_t value) const { return graph_.tensors[tensor_of_[value]]; }

  // Makes a delegate with each operator on the device that `device` names; if it is empty, the
  // engine chooses. With `slow`, operators and copies take the known times, else the time that the
  // machine needs.
  DelegatePtr MakePlaced(const std::vector<size_t>& device, bool slow) const;

 private:
  size_t AddValue(int producer, int tensor);

  Graph graph_;
  AssignProblem problem_;
  std::vector<size_t> tensor_of_;  // for each value
};

// Returns the bytes of a tensor of 32-bit elements.
size_t TensorBytes(const GraphTensor& tensor);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_
