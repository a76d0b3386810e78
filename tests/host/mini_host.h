// The least of a TFLite interpreter that runs a graph through a delegate, so that C++ tests and the
// fuzzer need no TensorFlow. It behaves as TFLite does towards a delegate (order of the calls, who
// owns what, intermediate tensors without memory) and is stricter where that finds faults: every
// buffer is a block of its own of exactly the declared size, a changed constant is an error, and
// most constants lie where no type but bytes is aligned.
// It computes nothing itself: an operator that no delegate claims makes Allocate fail.
#ifndef LARQ_ENGINE_TESTS_HOST_MINI_HOST_H_
#define LARQ_ENGINE_TESTS_HOST_MINI_HOST_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/tflite_abi.h"
#include "tests/host/graph.h"

namespace larq_engine::testing {

// What TFLite checks when it builds an interpreter: every tensor that is named exists, and no
// operator writes to its own input. MiniHost refuses other graphs.
bool IndicesAreValid(const Graph& graph);

// Not copyable or movable: the delegate keeps the address of the context. The delegate must outlive
// the host. One thread at a time; different hosts may run in different threads.
class MiniHost {
 public:
  // Allocate fails when all tensors together, constants aside, exceed `max_tensor_bytes`.
  explicit MiniHost(Graph graph, size_t max_tensor_bytes = size_t{1} << 30);
  ~MiniHost();
  MiniHost(const MiniHost&) = delete;
  MiniHost& operator=(const MiniHost&) = delete;

  // Before ApplyDelegate. Null for none.
  void SetProfiler(ProfilerInterface* profiler);
  // The number of threads that the host suggests; -1 (TFLite's default) for no opinion.
  void SetRecommendedThreads(int threads);

  TfLiteStatus ApplyDelegate(TfLiteDelegate* delegate);
  TfLiteStatus ResizeInput(size_t input, std::span<const int> shape);
  TfLiteStatus Allocate();
  TfLiteStatus Invoke();

  size_t input_count() const { return graph_.inputs.size(); }
  size_t output_count() const { return graph_.outputs.size(); }
  const TfLiteTensor& input(size_t i) const { return tensors_[graph_.inputs.at(i)]; }
  const TfLiteTensor& output(size_t i) const { return tensors_[graph_.outputs.at(i)]; }
  std::span<uint8_t> InputBytes(size_t i) { return Bytes(input(i)); }
  std::span<uint8_t> OutputBytes(size_t i) { return Bytes(output(i)); }
  const Graph& graph() const { return graph_; }

  // All that was reported so far, a line a message.
  const std::string& errors() const { return errors_; }
  // How many operators the delegate has claimed, and in how many partitions.
  size_t claimed_operators() const;
  size_t partitions() const { return kernels_.size(); }

 private:
  struct Node;     // an operator of the graph
  struct Kernel;   // a delegate's kernel in place of a run of nodes
  struct Context;  // the functions behind TfLiteContext
  struct Memory;   // what a tensor owns

  static std::span<uint8_t> Bytes(const TfLiteTensor& tensor) {
    return {tensor.data.uint8, tensor.data.raw == nullptr ? 0 : tensor.bytes};
  }
  void Report(const std::string& message);
  TfLiteStatus Fail(const std::string& message);
  void MakeTensor(size_t index);
  void MakeNode(size_t index);
  // What an entry of the plan runs, or null for a node of the graph.
  Kernel* KernelAt(int entry);
  TfLiteStatus SetShape(TfLiteTensor* tensor, IntArrayPtr shape);
  TfLiteStatus AddKernels(const TfLiteRegistration& registration, std::span<const int> nodes,
                          TfLiteDelegate* delegate);
  TfLiteStatus AddKernel(const TfLiteRegistration& registration, std::span<const int> run,
                         TfLiteDelegate* delegate);
  bool FitsLimit();
  TfLiteStatus AllocateTensors();
  bool ConstantsAreIntact() const;

  Graph graph_;
  size_t max_tensor_bytes_;
  bool usable_ = true;      // the graph holds together
  bool preparing_ = false;  // inside the delegate's Prepare
  bool allocated_ = false;
  std::string errors_;
  TfLiteContext context_{};
  std::vector<TfLiteTensor> tensors_;
  std::vector<Memory> memory_;
  std::list<Node> nodes_;
  std::vector<Node*> node_table_;
  std::list<Kernel> kernels_;
  // What runs, in order: numbers of nodes; those of the kernels follow.
  IntArrayPtr plan_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_MINI_HOST_H_
