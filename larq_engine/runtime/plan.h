// A set of our operators that the host runs as one: steps in order, with memory of their own for
// what passes between them.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_H_

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/runtime/engine.h"
#include "larq_engine/runtime/op_node.h"
#include "larq_engine/runtime/profile.h"
#include "larq_engine/runtime/step.h"

namespace larq_engine {

class Plan {
 public:
  // `host_outputs`: the tensors that others read, which therefore live in the host's memory.
  Plan(std::shared_ptr<Engine> engine, std::vector<OpNode> nodes, std::set<int> host_outputs);
  ~Plan();

  // Checks the operators (once), sizes every step, the outputs and the memory for the shapes that
  // the host's tensors have now. Throws OpError, whose text names the operator.
  void Prepare(TfLiteContext* context);

  // Runs all steps. Throws OpError when the host has no memory for a tensor.
  void Invoke(TfLiteContext* context);

  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  // Where a step finds a tensor: in the plan's own block, or in the host's tensor.
  struct Place {
    int tensor = -1;
    size_t bytes = 0;
    bool own = false;
    size_t offset = 0;  // in the block, if own
  };
  struct PlannedStep {
    OpNode node;
    std::string name;                // of the output tensor
    std::vector<int> declared_dims;  // of the output, in the file
    std::unique_ptr<Step> step;
    Place input;
    Place output;
    std::atomic<uint64_t> calls{0};
    std::atomic<uint64_t> total_ns{0};
  };

  void MakeSteps(const TfLiteContext& context);
  void SizeStep(TfLiteContext* context, PlannedStep& planned, std::map<int, TensorShape>& made);
  void PlaceTensors();
  void RunStep(TfLiteContext* context, PlannedStep& planned);
  void* Locate(TfLiteContext* context, const Place& place, const char* role);

  std::shared_ptr<Engine> engine_;
  std::vector<OpNode> nodes_;
  std::set<int> host_outputs_;
  std::vector<std::unique_ptr<PlannedStep>> steps_;
  bool prepared_ = false;          // for the shapes that the host's tensors have
  ThreadPool* threads_ = nullptr;  // the engine's
  AlignedBuffer<std::byte> memory_;
  AlignedBuffer<std::byte> scratch_;  // one part for each thread
  size_t scratch_stride_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_H_
