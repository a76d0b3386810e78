#include "larq_engine/runtime/plan/plan.h"

#include <algorithm>
#include <utility>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/assign_program.h"
#include "larq_engine/runtime/plan/devices.h"
#include "larq_engine/runtime/plan/plan_run.h"

namespace larq_engine {
namespace {

std::vector<ScheduleOp> DescribeOps(const Program& program, std::span<const size_t> device_of) {
  std::vector<ScheduleOp> ops;
  for (size_t i = 0; i < device_of.size(); ++i) {
    const ProgramOp& op = program.op(i);
    ops.push_back({.inputs = op.inputs,
                   .output = op.output,
                   .device = device_of[i],
                   .is_first_half = op.is_first_half});
  }
  return ops;
}

std::vector<ScheduleValue> DescribeValues(const Program& program) {
  std::vector<ScheduleValue> values;
  for (const Value& value : program.values()) {
    values.push_back({.producer = value.producer,
                      .host_reads = value.host_reads,
                      .is_constant = value.is_constant});
  }
  return values;
}

}  // namespace

Plan::Plan(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph)
    : engine_(std::move(engine)),
      placement_(std::move(placement)),
      subgraph_(subgraph),
      memory_(engine_->executors()) {
  engine_->Add(this);
}

Plan::~Plan() {
  engine_->Remove(this);
  WaitForDevices();
}

// Returns when nothing of an earlier run, which may have failed, is queued any more.
void Plan::WaitForDevices() {
  for (const auto& executor : engine_->executors()) {
    if (executor->memory() != nullptr) executor->memory()->Wait();
  }
}

void Plan::Prepare(const std::function<Program()>& read, HostTensors& host, int host_threads) {
  prepared_ = false;
  WaitForDevices();
  if (program_.ops().empty()) Load(read, engine_->fuse());
  if (!program_.Resize(host)) {
    Load(read, false);
    program_.Resize(host);
  }
  Assignment assignment = AssignProgram(program_, *placement_, engine_->executors(), host_threads);
  const bool is_new = segments_.empty() || assignment.device != assignment_.device;
  assignment_ = std::move(assignment);
  if (is_new) MakeSegments();
  for (const auto& segment : segments_) segment->Resize(host_threads);
  ReserveStaging();
  memory_.Place(program_, lifetimes_);
  memory_.PlaceConstants(program_, assignment_.device, host);
  prepared_ = true;
}

// Leaves everything as it was if it throws.
void Plan::Load(const std::function<Program()>& read, bool absorb) {
  Program program = read();
  PlaceOps(*placement_, std::max(subgraph_, 0), program);
  if (absorb) program.Absorb();
  engine_->Split(program);
  segments_.clear();
  memory_.DropConstants();
  program_ = std::move(program);
}

// Makes the schedule for the assignment, and a segment for each part. Leaves no segments if it
// throws.
void Plan::MakeSegments() {
  segments_.clear();
  const std::vector<ScheduleOp> ops = DescribeOps(program_, assignment_.device);
  const std::vector<ScheduleValue> values = DescribeValues(program_);
  const auto executors = engine_->executors();
  schedule_ = MakeSchedule(ops, values);
  lifetimes_ = FindLifetimes(ops, values, schedule_, executors.size());
  profile_.Reset(schedule_.actions.size());
  std::vector<std::unique_ptr<Segment>> segments;
  for (const Part& part : schedule_.parts) {
    segments.push_back(executors[part.device]->Compile(program_, part.ops, schedule_.is_shared));
    if (most_threads_) segments.back()->LimitThreads(*most_threads_);
  }
  segments_ = std::move(segments);
}

void Plan::ReserveStaging() {
  for (const Action& action : schedule_.actions) {
    if (action.kind == Action::kRun) continue;
    DeviceMemory& memory = *engine_->executors()[action.device]->memory();
    memory.ReserveStaging(program_.value(action.value).bytes);
  }
}

void Plan::LimitThreads(int most) {
  for (const auto& segment : segments_) segment->LimitThreads(most);
  most_threads_ = most;
}

void Plan::Invoke(HostTensors& host, RunProfiler* profiler) {
  if (!prepared_) {
    throw OpError(
        "larq_engine: expected allocated tensors, got a run after allocation failed; "
        "allocate tensors again");
  }
  engine_->CheckGivenInputs(*this);
  memory_.FindHostTensors(program_, host);
  RunPlan({.engine = *engine_,
           .program = program_,
           .schedule = schedule_,
           .segments = segments_,
           .memory = memory_,
           .reads_given_inputs = IsOfMainGraph(),
           .profiler = profiler},
          engine_->profiling() ? &profile_ : nullptr);
}

void Plan::AddReaders(int tensor, InputReaders& readers) const {
  if (!prepared_ || !IsOfMainGraph()) return;
  for (const Value& value : program_.values()) {
    if (value.producer != Value::kHost || value.is_constant || value.tensor != tensor) continue;
    for (size_t reader : value.readers) {
      const bool on_device = assignment_.device[reader] != kCpuDevice;
      (on_device ? readers.on_device : readers.on_host) = true;
      if (on_device) readers.bytes = value.bytes;
    }
  }
}

void Plan::ClearProfile() {
  for (const auto& segment : segments_) segment->ClearProfile();
  profile_.Clear();
}

void Plan::AppendProfile(std::vector<StepProfile>& steps) const {
  if (!prepared_) return;  // a Prepare that failed may have left segments of other shapes
  profile_.Append({.program = program_,
                   .assignment = assignment_,
                   .schedule = schedule_,
                   .segments = segments_,
                   .executors = engine_->executors(),
                   .subgraph = subgraph_},
                  steps);
}

}  // namespace larq_engine
