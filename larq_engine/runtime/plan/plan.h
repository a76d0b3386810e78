// A set of operators that the host runs as one: segments of devices in order, what passes between
// them, and the transfers that this takes.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/aligned_buffer.h"
#include "larq_engine/runtime/executor.h"
#include "larq_engine/runtime/plan/assign.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

// Who reads an input of the host's main graph.
struct InputReaders {
  bool on_host = false;
  bool on_device = false;
  size_t bytes = 0;  // that the device's read
};

class Plan {
 public:
  // `subgraph`: the number of the host's graph, which has its own of nodes. One that the host does
  // not tell (-1) is placed as the main one.
  Plan(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph);
  ~Plan();

  // Makes the program (once, by `read`), its segments, and sizes everything for the shapes that the
  // host's tensors have now. Throws OpError, whose text names the operator.
  void Prepare(const std::function<Program()>& read, HostTensors& host, int host_threads);

  // Runs all segments. Throws OpError when the host has no memory for a tensor, or a device fails.
  // Allocates nothing.
  void Invoke(HostTensors& host, void* host_profiler);

  // Those of this plan, as it was prepared.
  void AddReaders(int tensor, InputReaders& readers) const;

  void ClearProfile();
  void AppendProfile(std::vector<StepProfile>& steps) const;

 private:
  // What happens in a run, one after the other.
  struct Action {
    enum Kind : uint8_t { kRun, kCopyIn, kCopyOut };
    Kind kind;
    size_t part = 0;   // that is run
    size_t value = 0;  // that is copied
  };
  struct Part {  // of the program
    size_t device;
    std::vector<size_t> ops;
    std::unique_ptr<Segment> segment;
    bool is_beside;  // it runs while the part before it does, and reads nothing of that
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
  std::vector<size_t> device_of_;  // of each operator: which executor
  std::vector<std::string> reasons_;
  std::vector<size_t> part_of_;  // of each operator
  std::vector<bool> is_shared_;  // of each value: not one part's alone
  std::vector<Part> parts_;      // in the order in which they run
  std::vector<Action> actions_;
  std::unique_ptr<ProfileCounter[]> counters_;  // of actions: those of transfers are used
  // Where each value is for the run at hand, in the host's memory and on the other device.
  std::vector<std::byte*> host_places_;
  std::vector<std::byte*> device_places_;
  AlignedBuffer<std::byte> host_memory_;
  std::unique_ptr<DeviceBuffer> device_memory_;  // for what passes through it
  // Of values: the file's data that the other device reads. They were copied there once.
  std::vector<std::unique_ptr<DeviceBuffer>> device_constants_;
  bool prepared_ = false;  // for the shapes that the host's tensors have
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PLAN_H_
