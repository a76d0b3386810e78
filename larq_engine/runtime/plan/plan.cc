#include "larq_engine/runtime/plan/plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "larq_engine/kernels/common/memory_size.h"
#include "larq_engine/runtime/plan/arena.h"

namespace larq_engine {
namespace {

// Indices of devices in the engine's executors.
constexpr size_t kHostMemory = 0;
constexpr size_t kOwnMemory = 1;

// Limits how often devices are assigned anew. Each time an operator may leave the device.
constexpr int kMostPasses = 8;

// Tells whether the value's place is one of the host's tensors.
bool LivesInHost(const Value& value) { return value.maker == Value::kHost || value.host_reads; }

// The lives of values in one memory, counted in actions, and their places in it.
class BufferLifetimes {
 public:
  explicit BufferLifetimes(size_t values) : buffer_of_(values, kNone) {}

  // Must be called in the order of actions.
  void Add(size_t value, size_t bytes, size_t action) {
    if (buffer_of_[value] == kNone) {
      buffer_of_[value] = buffers_.size();
      buffers_.push_back({.bytes = bytes, .first = action, .last = action});
    }
    buffers_[buffer_of_[value]].last = action;
  }

  // Returns the bytes that all values take together.
  size_t Place() { return PlaceBuffers(buffers_); }

  void SetPlaces(std::byte* memory, std::vector<std::byte*>& places) const {
    for (size_t value = 0; value < buffer_of_.size(); ++value) {
      if (buffer_of_[value] != kNone) places[value] = memory + buffers_[buffer_of_[value]].offset;
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> buffer_of_;  // for each value
  std::vector<ArenaBuffer> buffers_;
};

}  // namespace

Plan::Plan(std::shared_ptr<Engine> engine, std::shared_ptr<const Placement> placement, int subgraph)
    : engine_(std::move(engine)), placement_(std::move(placement)), subgraph_(subgraph) {
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
  Assignment assignment = AssignDevices(host_threads);
  reasons_ = std::move(assignment.reasons);
  if (parts_.empty() || assignment.device != device_of_) MakeParts(std::move(assignment.device));
  for (Part& part : parts_) part.segment->Resize(host_threads);
  PlaceShared();
  PlaceConstants(host);
  prepared_ = true;
}

// Leaves everything as it was if it throws.
void Plan::Load(const std::function<Program()>& read, bool absorb) {
  Program program = read();
  PlaceOps(*placement_, std::max(subgraph_, 0), program);
  if (absorb) program.Absorb();
  engine_->Split(program);
  actions_.clear();
  parts_.clear();
  device_constants_.clear();
  program_ = std::move(program);
}

// Refuses the operator for the device that the placement does not say.
void Plan::Place(const ProgramOp& op, AssignOp& assigned) const {
  if (!op.place) {
    if (!placement_->by_cost && assigned.refusal[kOwnMemory].empty()) {
      assigned.refusal[kHostMemory] = "the other device was asked for";
    }
    return;
  }
  const size_t device = op.place->device;
  if (!assigned.refusal[device].empty()) {
    throw OpError(op.name.ErrorStart() + "placement: expected a device that computes it, got " +
                  engine_->executors()[device]->device() + ": " + assigned.refusal[device]);
  }
  assigned.refusal[1 - device] = "the placement says otherwise";
}

// Assigns devices for the program's current shapes.
Assignment Plan::AssignDevices(int host_threads) const {
  const auto executors = engine_->executors();
  const size_t count = program_.ops().size();
  if (executors.size() == 1) {
    return {.device = std::vector<size_t>(count, kHostMemory),
            .reasons = std::vector<std::string>(count)};
  }
  std::vector<AssignOp> ops;
  for (const auto& op : program_.ops()) {
    AssignOp& added = ops.emplace_back();
    added.inputs = op->inputs;
    added.output = op->output;
    for (size_t device : {kHostMemory, kOwnMemory}) {
      added.refusal[device] = executors[device]->Refusal(program_, *op);
    }
    if (!added.refusal[kHostMemory].empty() && !added.refusal[kOwnMemory].empty()) {
      throw OpError(op->name.ErrorStart() + "expected a device that computes it, got " +
                    executors[kHostMemory]->device() + ": " + added.refusal[kHostMemory] + ", " +
                    executors[kOwnMemory]->device() + ": " + added.refusal[kOwnMemory]);
    }
    Place(*op, added);
  }
  const auto ask = [&](size_t device, const std::vector<size_t>& computed) {
    const std::vector<double> seconds =
        executors[device]->Seconds(program_, computed, host_threads);
    for (size_t i = 0; i < computed.size(); ++i) ops[computed[i]].seconds[device] = seconds[i];
  };
  for (size_t device : {kHostMemory, kOwnMemory}) {
    std::vector<size_t> computed;
    for (size_t i = 0; i < count; ++i) {
      if (ops[i].refusal[device].empty()) computed.push_back(i);
    }
    ask(device, computed);
  }
  std::vector<AssignValue> values;
  for (const Value& value : program_.values()) {
    const double seconds =
        value.is_constant ? 0 : executors[kOwnMemory]->memory()->Seconds(value.bytes);
    values.push_back({.maker = value.maker,
                      .host_reads = value.host_reads,
                      .seconds_there = seconds,
                      .seconds_back = seconds});
  }
  const std::array<std::string, 2> names = {executors[kHostMemory]->device(),
                                            executors[kOwnMemory]->device()};
  Assignment assignment = Assign(ops, values, names);
  // An operator may cost nothing because it shares the launch of another one. So the operators that
  // are on the device are asked for by themselves, until no more of them leave it.
  std::vector<size_t> before(count, kOwnMemory);
  for (int pass = 0; pass < kMostPasses && assignment.device != before; ++pass) {
    std::vector<size_t> there;
    for (size_t i = 0; i < count; ++i) {
      if (assignment.device[i] == kOwnMemory) there.push_back(i);
    }
    ask(kOwnMemory, there);
    before = std::exchange(assignment, Assign(ops, values, names)).device;
  }
  return assignment;
}

// Puts each operator into the first part on its device that runs after all its inputs are made. If
// two devices compute the halves of a layer at the same time, each half begins a part. The part on
// the device with memory of its own comes first: it runs until somebody needs its results, so the
// host's part beside it must not need any. Leaves no parts if it throws.
void Plan::MakeParts(std::vector<size_t> device_of) {
  actions_.clear();
  parts_.clear();
  std::vector<Part> parts;
  device_of_ = std::move(device_of);
  part_of_.assign(program_.ops().size(), 0);
  const auto put = [&](size_t op, size_t part) {
    if (part == parts.size()) {
      parts.push_back(
          {.device = device_of_[op], .ops = {}, .segment = nullptr, .is_beside = false});
    }
    parts[part].ops.push_back(op);
    part_of_[op] = part;
  };
  for (size_t i = 0; i < program_.ops().size(); ++i) {
    if (program_.op(i).is_first_half && device_of_[i] != device_of_[i + 1]) {
      const size_t there = device_of_[i] == kOwnMemory ? i : i + 1;
      put(there, parts.size());
      put(there == i ? i + 1 : i, parts.size());
      parts.back().is_beside = true;
      ++i;
      continue;
    }
    size_t part = 0;
    for (size_t input : program_.op(i).inputs) {
      const int maker = program_.value(input).maker;
      if (maker == Value::kHost) continue;
      const size_t made = part_of_[static_cast<size_t>(maker)];
      const bool must_wait =
          device_of_[i] == kHostMemory && made + 1 < parts.size() && parts[made + 1].is_beside;
      part = std::max(part, must_wait ? made + 2 : made);
    }
    while (part < parts.size() && parts[part].device != device_of_[i]) ++part;
    put(i, part);
  }
  is_shared_.clear();
  for (const Value& value : program_.values()) {
    const auto is_elsewhere = [&](size_t reader) {
      return part_of_[reader] != part_of_[static_cast<size_t>(value.maker)];
    };
    is_shared_.push_back(LivesInHost(value) ||
                         std::any_of(value.readers.begin(), value.readers.end(), is_elsewhere));
  }
  for (Part& part : parts) {
    part.segment = engine_->executors()[part.device]->Compile(program_, part.ops, is_shared_);
  }
  std::vector<Action> actions = FindActions(parts);
  counters_ = std::make_unique<ProfileCounter[]>(actions.size());
  actions_ = std::move(actions);
  parts_ = std::move(parts);
}

// Lists the runs and copies in order. A copy in comes before the first part that reads the value on
// the device. A copy out waits for all queued work, so it comes as late as possible: before the
// first part that reads the value in the host's memory, or before the part beside which that one
// runs, or at the end.
std::vector<Plan::Action> Plan::FindActions(std::span<const Part> parts) const {
  std::vector<Action> actions;
  std::vector<std::array<bool, 2>> is_there(program_.values().size());  // for each memory
  const auto need = [&](size_t v, size_t memory) {
    if (program_.value(v).is_constant) return;  // see PlaceConstants
    const int maker = program_.value(v).maker;
    const size_t home =
        maker == Value::kHost ? kHostMemory : device_of_[static_cast<size_t>(maker)];
    if (memory == home || is_there[v][memory]) return;
    is_there[v][memory] = true;
    actions.push_back({.kind = memory == kHostMemory ? Action::kCopyOut : Action::kCopyIn,
                       .part = 0,
                       .value = v});
  };
  const auto need_inputs = [&](const Part& part) {
    for (size_t i : part.ops) {
      for (size_t input : program_.op(i).inputs) need(input, part.device);
    }
  };
  for (size_t p = 0; p < parts.size(); ++p) {
    if (p + 1 < parts.size() && parts[p + 1].is_beside) need_inputs(parts[p + 1]);
    need_inputs(parts[p]);
    actions.push_back({.kind = Action::kRun, .part = p, .value = 0});
  }
  for (size_t v = 0; v < program_.values().size(); ++v) {
    if (program_.value(v).host_reads) need(v, kHostMemory);
  }
  return actions;
}

// Gives every value that passes between parts a place in each memory that holds it, except for
// values in the host's own tensors.
void Plan::PlaceShared() {
  const size_t count = program_.values().size();
  host_places_.assign(count, nullptr);
  device_places_.assign(count, nullptr);
  BufferLifetimes in_host(count);
  BufferLifetimes in_device(count);
  const auto add = [&](size_t v, size_t memory, size_t action) {
    const Value& value = program_.value(v);
    if (!is_shared_[v] || value.is_constant) return;
    if (memory == kHostMemory && LivesInHost(value)) return;
    (memory == kHostMemory ? in_host : in_device).Add(v, value.bytes, action);
  };
  for (size_t a = 0; a < actions_.size(); ++a) {
    const Action& action = actions_[a];
    if (action.kind != Action::kRun) {
      for (size_t memory : {kHostMemory, kOwnMemory}) add(action.value, memory, a);
      continue;
    }
    const Part& part = parts_[action.part];
    for (size_t i : part.ops) {
      for (size_t input : program_.op(i).inputs) add(input, part.device, a);
      add(program_.op(i).output, part.device, a);
    }
  }
  host_memory_ = AlignedBuffer<std::byte>(in_host.Place());
  in_host.SetPlaces(host_memory_.data(), host_places_);
  if (engine_->executors().size() == 1) return;
  DeviceMemory& memory = *engine_->executors()[kOwnMemory]->memory();
  for (const Action& action : actions_) {
    if (action.kind != Action::kRun) memory.ReserveStaging(program_.value(action.value).bytes);
  }
  // The buffer is kept while it is large enough, because segments remember launches for their
  // values' places.
  const size_t device_bytes = in_device.Place();
  if (device_memory_ == nullptr || device_memory_->bytes() < device_bytes) {
    device_memory_.reset();
    device_memory_ = std::make_unique<DeviceBuffer>(memory, MemoryUse::kActivations, device_bytes);
  }
  in_device.SetPlaces(device_memory_->data(), device_places_);
}

void Plan::PlaceConstants(const HostTensors& host) {
  device_constants_.resize(program_.values().size());
  for (size_t v = 0; v < program_.values().size(); ++v) {
    const Value& value = program_.value(v);
    const bool is_read_there = std::ranges::any_of(
        value.readers, [&](size_t reader) { return device_of_[reader] == kOwnMemory; });
    if (!value.is_constant || !is_read_there) continue;
    if (device_constants_[v] == nullptr) {
      DeviceMemory& memory = *engine_->executors()[kOwnMemory]->memory();
      auto made = std::make_unique<DeviceBuffer>(memory, MemoryUse::kWeights, value.bytes);
      memory.CopyIn(FindHostTensor(value, host), value.bytes, made->data());
      device_constants_[v] = std::move(made);
    }
    device_places_[v] = device_constants_[v]->data();
  }
}

std::byte* Plan::FindHostTensor(const Value& value, const HostTensors& host) const {
  const bool is_input = value.maker == Value::kHost;
  const std::span<std::byte> data = host.Data(value.tensor);
  if (value.bytes > 0 && data.size() < value.bytes) {
    const size_t op = is_input ? value.readers[0] : static_cast<size_t>(value.maker);
    throw OpError(program_.op(op).name.ErrorStart() + (is_input ? "input" : "output") +
                  ": expected " + std::to_string(value.bytes) + " bytes from the host, got " +
                  std::to_string(data.size()) +
                  "; allocate tensors after resizing; if that was done, the file is corrupted");
  }
  // The cast is safe, because constants are only read.
  return value.constant.data() == nullptr
             ? data.data()
             : reinterpret_cast<std::byte*>(const_cast<int32_t*>(value.constant.data()));
}

void Plan::FindHostTensors(const HostTensors& host) {
  for (size_t v = 0; v < program_.values().size(); ++v) {
    const Value& value = program_.value(v);
    if (LivesInHost(value)) host_places_[v] = FindHostTensor(value, host);
  }
}

void Plan::Copy(const Action& action, bool profiling) {
  const Value& value = program_.value(action.value);
  DeviceMemory& memory = *engine_->executors()[kOwnMemory]->memory();
  const ProfileClock::time_point start =
      profiling ? ProfileClock::now() : ProfileClock::time_point();
  const GivenInput* given = nullptr;
  if (value.maker == Value::kHost && IsOfMainGraph()) given = engine_->FindGivenInput(value.tensor);
  if (given != nullptr && given->is_on_device) {
    memory.CopyMade(given->data, value.bytes, device_places_[action.value]);
  } else if (given != nullptr) {
    memory.CopyGiven(given->data, value.bytes, device_places_[action.value]);
  } else if (action.kind == Action::kCopyIn) {
    memory.CopyIn(host_places_[action.value], value.bytes, device_places_[action.value]);
  } else {
    memory.CopyOut(device_places_[action.value], value.bytes, host_places_[action.value]);
  }
  if (profiling) {
    counters_[static_cast<size_t>(&action - actions_.data())].Add(NanosecondsSince(start));
  }
}

void Plan::Invoke(HostTensors& host, void* host_profiler) {
  if (!prepared_) {
    throw OpError(
        "larq_engine: expected allocated tensors, got a run after allocation failed; "
        "allocate tensors again");
  }
  engine_->CheckGivenInputs(*this);
  FindHostTensors(host);
  const bool profiling = engine_->profiling();
  for (const Action& action : actions_) {
    if (action.kind != Action::kRun) {
      Copy(action, profiling);
      continue;
    }
    const Part& part = parts_[action.part];
    part.segment->Run({.places = part.device == kHostMemory ? host_places_ : device_places_,
                       .profiling = profiling,
                       .host_profiler = host_profiler});
  }
}

void Plan::AddReaders(int tensor, InputReaders& readers) const {
  if (!prepared_ || !IsOfMainGraph()) return;
  for (const Value& value : program_.values()) {
    if (value.maker != Value::kHost || value.is_constant || value.tensor != tensor) continue;
    for (size_t reader : value.readers) {
      const bool on_device = device_of_[reader] == kOwnMemory;
      (on_device ? readers.on_device : readers.on_host) = true;
      if (on_device) readers.bytes = value.bytes;
    }
  }
}

void Plan::ClearProfile() {
  for (Part& part : parts_) part.segment->ClearProfile();
  for (size_t a = 0; a < actions_.size(); ++a) counters_[a].Clear();
}

void Plan::AppendProfile(std::vector<StepProfile>& steps) const {
  if (!prepared_) return;  // a Prepare that failed may have left incomplete parts
  const auto executors = engine_->executors();
  const size_t first_of_all = steps.size();
  for (size_t a = 0; a < actions_.size(); ++a) {
    const Action& action = actions_[a];
    if (action.kind == Action::kRun) {
      const Part& part = parts_[action.part];
      const size_t first = steps.size();
      part.segment->AppendProfile(steps);
      for (size_t i = 0; i < part.ops.size(); ++i) {
        StepProfile& step = steps[first + i];
        step.reason = reasons_[part.ops[i]];
        for (const auto& absorbed : program_.op(part.ops[i]).absorbed) {
          step.absorbed.push_back(absorbed->name.node);
        }
      }
      const auto begin = steps.begin() + static_cast<ptrdiff_t>(first);
      std::set<int> absorbed;  // nodes whose rows the segment's steps absorbed
      for (auto step = begin; step != steps.end(); ++step) {
        absorbed.insert(step->absorbed.begin(), step->absorbed.end());
      }
      const auto is_absorbed = [&](const StepProfile& s) { return absorbed.contains(s.node); };
      steps.erase(std::remove_if(begin, steps.end(), is_absorbed), steps.end());
      continue;
    }
    // A transfer is named after the operator on the device.
    const Value& value = program_.value(action.value);
    const bool copies_in = action.kind == Action::kCopyIn;
    const auto on_device = [&](size_t op) { return device_of_[op] == kOwnMemory; };
    const size_t op = copies_in
                          ? *std::find_if(value.readers.begin(), value.readers.end(), on_device)
                          : static_cast<size_t>(value.maker);
    steps.push_back({.op = kTransfer,
                     .name = value.name,
                     .layer = program_.op(op).name.layer,
                     .node = program_.op(op).name.node,
                     .device = executors[copies_in ? kOwnMemory : kHostMemory]->device(),
                     .kernel = "",
                     .calls = counters_[a].calls(),
                     .total_ns = counters_[a].total_ns(),
                     .bytes = value.bytes});
  }
  for (size_t i = first_of_all; i < steps.size(); ++i) steps[i].subgraph = subgraph_;
}

}  // namespace larq_engine
