// A set of operators that the host runs as one: groups of steps in order, with memory of their own
// for what passes between them.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_H_

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/runtime/constant_values.h"
#include "larq_engine/runtime/engine.h"
#include "larq_engine/runtime/fusion.h"
#include "larq_engine/runtime/op_node.h"
#include "larq_engine/runtime/placement.h"
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

  // Runs all steps. Throws OpError when the host has no memory for a tensor. Allocates nothing.
  void Invoke(TfLiteContext* context);

  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  // Where a step finds a tensor.
  struct Place {
    PlaceKind kind = PlaceKind::kHost;
    int tensor = -1;
    size_t bytes = 0;
    size_t pixel_bytes = 0;
    size_t offset = 0;                      // in the block or the scratch
    ConstantValues<int32_t> constant = {};  // of an input that is one
    std::byte* base = nullptr;  // of the host's tensor or in the block, for the run at hand
  };
  struct PlannedStep {
    OpNode node;
    std::string name;                // of the output tensor
    std::string layer;               // see LayerName
    std::vector<int> declared_dims;  // of the output, in the file
    std::unique_ptr<Step> step;
    std::vector<int> producers;  // of the data inputs: steps, or -1
    // Steps before it that it computes too, in order: they check shapes, and never run.
    std::vector<std::unique_ptr<PlannedStep>> absorbed;
    std::vector<Place> inputs;
    Place output;
    std::atomic<uint64_t> calls{0};
    std::atomic<uint64_t> total_ns{0};
  };
  using Steps = std::vector<std::unique_ptr<PlannedStep>>;
  struct Group {
    std::vector<PlannedStep*> steps;
    int64_t pixels;
    Tiling tiling;
    const char* ops;  // names joined by +, for the host's profiler; lasting
  };
  struct Job;  // a run of a group

  void MakeSteps(const TfLiteContext& context, bool absorb);
  void AbsorbSteps(Steps& steps) const;
  std::vector<size_t> ChannelOpsBefore(const Steps& steps, const std::vector<int>& readers,
                                       const PlannedStep& last) const;
  bool SizeSteps(TfLiteContext* context);
  bool SizeStep(TfLiteContext* context, size_t index, std::vector<TensorShape>& shapes);
  void SizeOwn(TfLiteContext* context, PlannedStep& planned, const std::vector<TensorShape>& inputs,
               TensorShape& shape);
  std::vector<std::vector<size_t>> MakeGroups();  // and returns which steps are in each
  void PlaceTensors(std::span<const std::vector<size_t>> members);
  void RunGroup(TfLiteContext* context, Group& group);
  static void RunUnits(void* job, int64_t first, int64_t last, int worker);
  void FindTensor(TfLiteContext* context, const PlannedStep& planned, Place& place,
                  const char* role);
  void ShareTime(Group& group, uint64_t wall_ns);

  std::shared_ptr<Engine> engine_;
  std::vector<OpNode> nodes_;
  std::set<int> host_outputs_;
  Steps steps_;
  std::vector<Group> groups_;
  bool prepared_ = false;          // for the shapes that the host's tensors have
  ThreadPool* threads_ = nullptr;  // the engine's
  AlignedBuffer<std::byte> memory_;
  AlignedBuffer<std::byte> scratch_;  // one part for each thread: the step's own, then tiles
  size_t scratch_stride_ = 0;
  std::vector<uint64_t> step_ns_;  // [threads][steps of the largest group], while profiling
  size_t largest_group_ = 0;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_H_
