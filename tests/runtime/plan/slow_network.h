// A residual network over two devices whose operators and copies take known times: some operators
// are faster on the one, some on the other, and moving what lies between them has its price.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_
#define LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_

#include <cstddef>
#include <vector>

#include "tests/host/graph.h"
#include "tests/host/run_graph.h"
#include "tests/runtime/plan/assign_oracle.h"

namespace larq_engine::testing {

// Blocks of a quantization, a convolution, and a sum with what the block reads.
class SlowNetwork {
 public:
  SlowNetwork();

  const Graph& graph() const { return graph_; }
  // Its operators are those of the graph, in their order.
  const AssignProblem& problem() const { return problem_; }
  // The graph's tensor that a value of the problem is.
  const GraphTensor& Tensor(size_t value) const { return graph_.tensors[tensor_of_[value]]; }

  // With each operator on the device that is named; with none named, where the engine chooses.
  // `slow`: all takes the known times; else what the machine needs.
  DelegatePtr MakePlaced(const std::vector<size_t>& device, bool slow) const;

 private:
  size_t AddValue(int maker, int tensor);

  Graph graph_;
  AssignProblem problem_;
  std::vector<size_t> tensor_of_;  // of each value
};

// Of a tensor of 32-bit elements.
size_t TensorBytes(const GraphTensor& tensor);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_RUNTIME_PLAN_SLOW_NETWORK_H_
