// A set of operators that the host runs as one node: segments of devices in order, the values that
// pass between them, and the transfers that this takes.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// The readers of an input of the host's main graph.
struct InputReaders {
  bool on_host = false;
  bool on_device = false;
  size_t bytes = 0;  // size of the input for the device's readers
};

class Plan {
 public:
  // `subgraph` is the number of the host's graph, whose nodes have their own numbers. If the host
  // does not tell it (-1), the plan is placed as one of the main graph.
  Plan(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph);
  ~Plan();

  // Makes the program (once, by `read`) and its segments, and sizes everything for the current
  // shapes of the host's tensors. Throws OpError, whose text names the operator.
  void Prepare(const std::function<Program()>& read, HostTensors& host, int host_threads);

  // Runs all segments. Allocates nothing. Throws OpError if the host has no memory for a tensor, or
  // a device fails.
  void Invoke(HostTensors& host, void* host_profiler);

  // Adds this plan's readers of the tensor, as of the last Prepare.
  void AddReaders(int tensor, InputReaders& readers) const;

  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  // One piece of a run. Actions happen one after the other.
  struct Action {
    enum Kind : uint8_t { kRun, kCopyIn, kCopyOut };
    Kind kind;
    size_t part = 0;   // to run
    size_t value = 0;  // to copy
  };
  struct Part {  // a part of the program
    size_t device;
    std::vector<size_t> ops;
    std::unique_ptr<Segment> segment;
    bool is_beside;  // it runs during the part before it, and reads none of that part's results
  };

  bool IsOfMainGraph() const { return subgraph_ <= 0; }
  void WaitForDevices();
  void Load(const std::function<Program()>& read, bool absorb);
  void Place(const ProgramOp& op, AssignOp& assigned) const;
  Assignment AssignDevices(int host_threads) const;
  void MakeParts(std::vector<size_t> device_of);
  std::vector<Action> FindActions(std::span<const Part> parts) const;
  void PlaceShared();
  void PlaceConstants(const HostTensors& host);
  std::byte* FindHostTensor(const Value& value, const HostTensors& host) const;
  void FindHostTensors(const HostTensors& host);
  void Copy(const Action& action, bool profiling);

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<const Placement> placement_;
  int subgraph_;
  Program program_;
  std::vector<size_t> device_of_;  // for each operator: index of its executor
  std::vector<std::string> reasons_;
  std::vector<size_t> part_of_;  // for each operator
  std::vector<bool> is_shared_;  // for each value: more than one part uses it, or the host
  std::vector<Part> parts_;      // in the order in which they run
  std::vector<Action> actions_;
  std::unique_ptr<ProfileCounter[]> counters_;  // for each action; only transfers use theirs
  // Addresses of each value in this run, in the host's memory and on the other device.
  std::vector<std::byte*> host_places_;
  std::vector<std::byte*> device_places_;
  AlignedBuffer<std::byte> host_memory_;
  std::unique_ptr<DeviceBuffer> device_memory_;  // for values that pass through the device
  // For each value: the file's data, if the other device reads them. They are copied there once.
  std::vector<std::unique_ptr<DeviceBuffer>> device_constants_;
  bool prepared_ = false;  // for the current shapes of the host's tensors
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
