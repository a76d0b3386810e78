// A minimal TFLite interpreter that runs a graph through a delegate, so that C++ tests and the
// fuzzer need no TensorFlow. It behaves towards a delegate as TFLite does (order of the calls,
// ownership, intermediate tensors without memory). It is stricter where that finds faults: every
// buffer is a block of its own of exactly the declared size, a changed constant is an error, and
// most constants lie where no type but bytes is aligned. It computes nothing itself: an operator
// that no delegate claims makes Allocate fail.
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

// Checks what TFLite checks when it builds an interpreter: every tensor that is named exists, and
// no operator writes to its own input. MiniHost refuses other graphs.
bool IndicesAreValid(const Graph& graph);

// It can be neither copied nor moved, because the delegate keeps the address of the context. The
// delegate must outlive the host. A host may be used by one thread at a time; different hosts may
// run in different threads.
class MiniHost {
 public:
  // Allocate fails if all tensors together, without constants, exceed `max_tensor_bytes`.
  explicit MiniHost(Graph graph, size_t max_tensor_bytes = size_t{1} << 30);
  ~MiniHost();
  MiniHost(const MiniHost&) = delete;
  MiniHost& operator=(const MiniHost&) = delete;

  // Must be called before ApplyDelegate. Null stands for no profiler.
  void SetProfiler(ProfilerInterface* profiler);
  // Sets the number of threads that the host suggests; -1 (TFLite's default) suggests none.
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

  // Returns all messages that were reported so far, one a line.
  const std::string& errors() const { return errors_; }
  // Return how many operators the delegate has claimed, and in how many partitions.
  size_t claimed_operators() const;
  size_t partitions() const { return kernels_.size(); }

 private:
  struct Node;     // an operator of the graph
  struct Kernel;   // a delegate's kernel in place of a run of nodes
  struct Context;  // the functions behind TfLiteContext
  struct Memory;   // memory that a tensor owns

  static std::span<uint8_t> Bytes(const TfLiteTensor& tensor) {
    return {tensor.data.uint8, tensor.data.raw == nullptr ? 0 : tensor.bytes};
  }
  void Report(const std::string& message);
  TfLiteStatus Fail(const std::string& message);
  void MakeTensor(size_t index);
  void MakeNode(size_t index);
  // Returns the kernel that an entry of the plan runs, or null for a node of the graph.
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
  bool usable_ = true;      // the graph is valid
  bool preparing_ = false;  // inside the delegate's Prepare
  bool allocated_ = false;
  std::string errors_;
  TfLiteContext context_{};
  std::vector<TfLiteTensor> tensors_;
  std::vector<Memory> memory_;
  std::list<Node> nodes_;
  std::vector<Node*> node_table_;
  std::list<Kernel> kernels_;
  // The entries that run, in order: numbers of nodes. The kernels' numbers follow those of the
  // nodes.
  IntArrayPtr plan_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_MINI_HOST_H_
