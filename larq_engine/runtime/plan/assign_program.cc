#include "larq_engine/runtime/plan/assign_program.h"

#include <array>
#include <cassert>
#include <utility>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

// Limits how often devices are assigned anew. Each time an operator may leave the device.
constexpr int kMostPasses = 8;

class ProgramAssigner {
 public:
  ProgramAssigner(const Program& program, const Placement& placement,
                  std::span<const std::unique_ptr<Executor>> executors, int host_threads)
      : program_(program),
        placement_(placement),
        executors_(executors),
        host_threads_(host_threads) {
    assert(executors.size() == kAssignDevices);  // the engine refuses more
    for (const auto& op : program_.ops()) AddOp(*op);
    for (const Value& value : program_.values()) AddValue(value);
  }

  Assignment Make() {
    for (size_t device = 0; device < kAssignDevices; ++device) {
      AskSeconds(device, [&](size_t op) { return ops_[op].refusal[device].empty(); });
    }
    Assignment assignment = AssignAll();
    // An operator may cost nothing because it shares the launch of another one. So the operators
    // that are on the device are asked for by themselves, until no more of them leave it.
    std::vector<size_t> before(ops_.size(), kOffloadDevice);
    for (int pass = 0; pass < kMostPasses && assignment.device != before; ++pass) {
      AskSeconds(kOffloadDevice,
                 [&](size_t op) { return assignment.device[op] == kOffloadDevice; });
      before = std::exchange(assignment, AssignAll()).device;
    }
    return assignment;
  }

 private:
  void AddOp(const ProgramOp& op) {
    AssignOp& added = ops_.emplace_back();
    added.inputs = op.inputs;
    added.output = op.output;
    bool is_refused = true;
    std::string refusals;
    for (size_t device = 0; device < kAssignDevices; ++device) {
      added.refusal[device] = executors_[device]->Refusal(program_, op);
      is_refused = is_refused && !added.refusal[device].empty();
      refusals += (refusals.empty() ? "" : ", ") + Told(added, device);
    }
    if (is_refused) {
      throw OpError(op.name.ErrorStart() + "expected a device that computes it, got " + refusals);
    }
    RefuseOthers(op, added);
  }

  // Refuses the operator for the devices that the placement does not say.
  void RefuseOthers(const ProgramOp& op, AssignOp& added) const {
    if (!op.place) {
      if (!placement_.by_cost && added.refusal[kOffloadDevice].empty()) {
        added.refusal[kCpuDevice] = "the other device was asked for";
      }
      return;
    }
    const size_t placed = op.place->device;
    if (!added.refusal[placed].empty()) {
      throw OpError(op.name.ErrorStart() + "placement: expected a device that computes it, got " +
                    Told(added, placed));
    }
    for (size_t device = 0; device < kAssignDevices; ++device) {
      if (device != placed) added.refusal[device] = "the placement says otherwise";
    }
  }

  std::string Told(const AssignOp& op, size_t device) const {
    return std::string(executors_[device]->device()) + ": " + op.refusal[device];
  }

  void AddValue(const Value& value) {
    const double seconds =
        value.is_constant ? 0 : executors_[kOffloadDevice]->memory()->Seconds(value.bytes);
    values_.push_back({.producer = value.producer,
                       .host_reads = value.host_reads,
                       .seconds_there = seconds,
                       .seconds_back = seconds});
  }

  // Asks the device how long it takes if it computes just the operators that `is_computed` names.
  template <typename Predicate>
  void AskSeconds(size_t device, const Predicate& is_computed) {
    std::vector<size_t> computed;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (is_computed(i)) computed.push_back(i);
    }
    const std::vector<double> seconds =
        executors_[device]->Seconds(program_, computed, host_threads_);
    for (size_t i = 0; i < computed.size(); ++i) ops_[computed[i]].seconds[device] = seconds[i];
  }

  Assignment AssignAll() const {
    std::array<std::string, kAssignDevices> names;
    for (size_t device = 0; device < kAssignDevices; ++device) {
      names[device] = executors_[device]->device();
    }
    return Assign(ops_, values_, names);
  }

  const Program& program_;
  const Placement& placement_;
  std::span<const std::unique_ptr<Executor>> executors_;
  int host_threads_;
  std::vector<AssignOp> ops_;
  std::vector<AssignValue> values_;
};

}  // namespace

Assignment AssignProgram(const Program& program, const Placement& placement,
                         std::span<const std::unique_ptr<Executor>> executors, int host_threads) {
  const size_t count = program.ops().size();
  if (executors.size() == 1) {
    return {.device = std::vector<size_t>(count, kCpuDevice),
            .reasons = std::vector<std::string>(count)};
  }
  return ProgramAssigner(program, placement, executors, host_threads).Make();
}

}  // namespace larq_engine
